//! `#[function(..)]`, which declares a function of the Python module.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use std::collections::HashSet;

/// Makes a function one of the Python module. The argument is its signature in Python, and follows
/// PyO3's: `/` and `*` as there, `name: "type"` where the stub's type doesn't follow from the
/// argument's in Rust, and `-> "type"` at the end where that of the result doesn't.
///
/// Defaults are shown as they are written: None, numbers, strings, tuples, or what a constructor is
/// called with, as in `Some(0)`. One that is a plain value stands for None if the argument is an
/// `Option`: the function knows then that it was not given. The default `_` is such a None that
/// isn't shown.
///
/// The function is registered in the Python module that `declare::MODULES` has for its file.
#[proc_macro_attribute]
pub fn function(signature: TokenStream, item: TokenStream) -> TokenStream {
    let (name, arguments) = function_of(&item);
    let optional: HashSet<String> = split(arguments)
        .iter()
        .filter_map(|a| optional(a))
        .collect();
    let (parameters, returns) = match arrow(&signature) {
        Some((before, after)) => (before, after),
        None => (signature, TokenStream::new()),
    };
    let (mut tokens, mut text) = (TokenStream::new(), Vec::new());
    for parameter in split(parameters) {
        let (declared, shown) = rendered(parameter, &optional);
        tokens.extend(declared);
        tokens.extend([TokenTree::from(Punct::new(',', Spacing::Alone))]);
        text.push(shown);
    }
    let text = Literal::string(&format!("({})", text.join(", ")));
    let mut options = parsed("signature =");
    options.extend([group(Delimiter::Parenthesis, tokens)]);
    options.extend(returns);
    options.extend(parsed(", text_signature ="));
    options.extend([TokenTree::from(text)]);
    let mut pyo3 = parsed("pyo3");
    pyo3.extend([group(Delimiter::Parenthesis, options)]);

    let mut made = parsed("#[::pyo3::pyfunction] #");
    made.extend([group(Delimiter::Bracket, pyo3)]);
    made.extend(item);
    let mut wrapped = TokenStream::from(TokenTree::from(name));
    wrapped.extend(parsed(", m"));
    let mut declared = parsed("module: ::core::module_path!(), wrap: |m| ::pyo3::wrap_pyfunction!");
    declared.extend([group(Delimiter::Parenthesis, wrapped)]);
    let mut submitted = parsed("crate::declare::Function");
    submitted.extend([group(Delimiter::Brace, declared)]);
    made.extend(parsed("::inventory::submit!"));
    made.extend([group(Delimiter::Brace, submitted)]);
    made
}

fn parsed(source: &str) -> TokenStream {
    source.parse().expect("it is written above")
}

fn group(delimiter: Delimiter, tokens: TokenStream) -> TokenTree {
    TokenTree::from(Group::new(delimiter, tokens))
}

fn is_punct(token: &TokenTree, c: char) -> bool {
    matches!(token, TokenTree::Punct(p) if p.as_char() == c)
}

/// The name of the function that an item is, and its arguments.
fn function_of(item: &TokenStream) -> (Ident, TokenStream) {
    let mut tokens = item.clone().into_iter();
    tokens.find(|t| matches!(t, TokenTree::Ident(i) if i.to_string() == "fn"));
    let Some(TokenTree::Ident(name)) = tokens.next() else {
        panic!("#[function] is for functions");
    };
    // generic parameters have no parentheses
    let arguments = tokens.find_map(|t| match t {
        TokenTree::Group(g) if g.delimiter() == Delimiter::Parenthesis => Some(g.stream()),
        _ => None,
    });
    (name, arguments.expect("a function has arguments"))
}

/// The parts between commas, of which those within `<..>` separate nothing.
fn split(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let (mut parts, mut depth, mut arrow) = (vec![Vec::new()], 0, false);
    for token in tokens {
        if is_punct(&token, '<') {
            depth += 1;
        } else if is_punct(&token, '>') && !arrow {
            depth -= 1;
        }
        arrow = is_punct(&token, '-');
        if depth == 0 && is_punct(&token, ',') {
            parts.push(Vec::new());
        } else {
            parts.last_mut().expect("it begins with one").push(token);
        }
    }
    parts.retain(|p| !p.is_empty());
    parts
}

/// The name of an argument whose type is an `Option`.
fn optional(argument: &[TokenTree]) -> Option<String> {
    let colon = argument.iter().position(|t| is_punct(t, ':'))?;
    let is_option = argument.get(colon + 1)?.to_string() == "Option";
    is_option.then(|| argument[colon - 1].to_string())
}

/// What stands before an arrow, and the rest.
fn arrow(signature: &TokenStream) -> Option<(TokenStream, TokenStream)> {
    let all: Vec<TokenTree> = signature.clone().into_iter().collect();
    let at = all
        .windows(2)
        .position(|w| is_punct(&w[0], '-') && is_punct(&w[1], '>'))?;
    let (before, after) = all.split_at(at);
    Some((
        before.iter().cloned().collect(),
        after.iter().cloned().collect(),
    ))
}

/// A parameter for PyO3, and as Python shows it.
fn rendered(parameter: Vec<TokenTree>, optional: &HashSet<String>) -> (TokenStream, String) {
    let equals = parameter.iter().position(|t| is_punct(t, '='));
    let (head, default) = parameter.split_at(equals.unwrap_or(parameter.len()));
    let colon = head.iter().position(|t| is_punct(t, ':'));
    let name: String = head[..colon.unwrap_or(head.len())]
        .iter()
        .map(ToString::to_string)
        .collect();
    let shown_name = name.replace("r#", "");
    let mut tokens: TokenStream = head.iter().cloned().collect();
    let Some((equals, value)) = default.split_first() else {
        return (tokens, shown_name);
    };
    tokens.extend([equals.clone()]);
    let shown = shown(value);
    if shown.is_none() || optional.contains(&name) && called(value).is_none() {
        tokens.extend([TokenTree::from(Ident::new("None", Span::call_site()))]);
    } else {
        tokens.extend(value.iter().cloned());
    }
    match shown {
        Some(shown) => (tokens, format!("{shown_name}={shown}")),
        None => (tokens, shown_name),
    }
}

/// What a constructor or function is called with.
fn called(value: &[TokenTree]) -> Option<Vec<TokenTree>> {
    match value {
        [TokenTree::Ident(_), .., TokenTree::Group(g)] => Some(g.stream().into_iter().collect()),
        _ => None,
    }
}

/// A default as Python shows it; `None` if it is not to be shown.
fn shown(value: &[TokenTree]) -> Option<String> {
    if let Some(inner) = called(value) {
        return shown(&inner);
    }
    match value {
        // what a macro passed as one
        [TokenTree::Group(g)] if g.delimiter() == Delimiter::None => {
            shown(&g.stream().into_iter().collect::<Vec<_>>())
        }
        [one] => match one.to_string().as_str() {
            "_" => None,
            "true" => Some("True".into()),
            "false" => Some("False".into()),
            other => Some(other.into()),
        },
        [minus, TokenTree::Literal(number)] if is_punct(minus, '-') => Some(format!("-{number}")),
        _ => panic!("a default is None, a number, a string or a tuple"),
    }
}

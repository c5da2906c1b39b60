//! Routes that declare what they require of their caller.

use crate::http::extract::App;
use axum::extract::State;
use utoipa_axum::router::UtoipaMethodRouter;

/// A handler's requirement, as the type of its first argument after the state.
pub(crate) trait Policy {
    /// Its name in the OpenAPI document.
    const NAME: &'static str;
}

/// A handler with a policy; `Args` are its arguments after the state.
pub(crate) trait Declares<Args> {
    const POLICY: &'static str;
}

macro_rules! declares {
    ($($argument:ident),*) => {
        impl<F, Out, P: Policy, $($argument),*> Declares<(P, $($argument,)*)> for F
        where
            F: Fn(State<App>, P, $($argument),*) -> Out,
        {
            const POLICY: &'static str = P::NAME;
        }
    };
}

declares!();
declares!(A);
declares!(A, B);
declares!(A, B, C);
declares!(A, B, C, D);

/// The policy's field in the OpenAPI document.
const EXTENSION: &str = "x-podo-policy";

/// Adds the handler's policy to each of its operations.
pub(crate) fn declare<H: Declares<Args>, Args>(
    _handler: H,
    (schemas, mut paths, router): UtoipaMethodRouter<App>,
) -> UtoipaMethodRouter<App> {
    for item in paths.paths.values_mut() {
        let operations = [
            &mut item.get,
            &mut item.put,
            &mut item.post,
            &mut item.delete,
            &mut item.patch,
            &mut item.head,
            &mut item.options,
            &mut item.trace,
        ];
        for operation in operations.into_iter().flatten() {
            let extensions = operation.extensions.get_or_insert_default();
            extensions.insert(EXTENSION.to_owned(), H::POLICY.into());
        }
    }
    (schemas, paths, router)
}

/// The routes of a handler with a policy in its signature; without one it doesn't compile.
macro_rules! guarded {
    ($handler:ident) => {
        $crate::http::extract::policy::declare($handler, utoipa_axum::routes!($handler))
    };
}

pub(crate) use guarded;

//! A port and its commands, one line each.
//!
//! ```text
//! commands! {
//!     impl JobRuns for SqlStore {
//!         write note_run(JobRun) -> () as Worker => note;
//!         read job_runs(ListRuns {}) -> Vec<JobRun> as Worker => list;
//!         write claim_run(ClaimRun { job: &'static str, due_at: Timestamp })
//!             -> bool as Worker => claim_run;
//!     }
//! }
//! ```
//!
//! A line says, from left to right:
//! - how the store runs the command: `read`, `write`, or `write_in_batch` for a command that shares
//!   its transaction with others on PostgreSQL;
//! - the method of the port;
//! - the command. A type alone (`JobRun`) is what the method takes. A type with fields
//!   (`ClaimRun { … }`) is declared by the line, and the method takes the fields one by one;
//! - what it gives;
//! - the database role that it runs in, and `or_replica` if nothing is decided by its answer, so
//!   that a replica may give it;
//! - the async function that runs it: `async fn claim_run(tx: &mut dyn Tx, command: &ClaimRun)`.
//!
//! A method that does more than run one command is written out as an `async fn` below the lines. A
//! command that only such a method runs is declared by a line that starts with `command`:
//! `command ReadClock {} -> Timestamp as Worker => read_clock;`

/// Declares the commands of a port and implements the port for the store.
macro_rules! commands {
    (impl $port:ident for SqlStore { $($lines:tt)* }) => {
        $crate::sql::engine::commands::commands!(@line $port [] $($lines)*);
    };

    // No line is left: emit the collected methods as the implementation.
    (@line $port:ident [$($methods:tt)*]) => {
        #[async_trait::async_trait]
        impl $port for $crate::sql::SqlStore {
            $($methods)*
        }
    };

    // A method written out in full.
    (@line $port:ident [$($methods:tt)*]
        async fn $method:ident $parameters:tt $(-> $output:ty)? { $($body:tt)* }
        $($rest:tt)*
    ) => {
        $crate::sql::engine::commands::commands!(@line $port [
            $($methods)*
            async fn $method $parameters $(-> $output)? { $($body)* }
        ] $($rest)*);
    };

    // A command without a method.
    (@line $port:ident [$($methods:tt)*]
        command $command:ident { $($field:ident: $type:ty),* $(,)? } -> $output:ty
            as $role:ident $($replica:ident)? => $function:path;
        $($rest:tt)*
    ) => {
        $crate::sql::engine::commands::commands!(@type $command { $($field: $type),* });
        $crate::sql::engine::commands::commands!(
            @command $command -> $output as $role [$($replica)?] => $function
        );
        $crate::sql::engine::commands::commands!(@line $port [$($methods)*] $($rest)*);
    };

    // A command whose type the port declares.
    (@line $port:ident [$($methods:tt)*]
        $run:ident $method:ident($command:ident) -> $output:ty
            as $role:ident $($replica:ident)? => $function:path;
        $($rest:tt)*
    ) => {
        $crate::sql::engine::commands::commands!(
            @command $command -> $output as $role [$($replica)?] => $function
        );
        $crate::sql::engine::commands::commands!(@line $port [
            $($methods)*
            async fn $method(&self, command: $command) -> podo_app::Result<$output> {
                self.$run(command).await
            }
        ] $($rest)*);
    };

    // A command whose type is built from the method's parameters.
    (@line $port:ident [$($methods:tt)*]
        $run:ident $method:ident($command:ident { $($field:ident: $type:ty),* $(,)? }) -> $output:ty
            as $role:ident $($replica:ident)? => $function:path;
        $($rest:tt)*
    ) => {
        $crate::sql::engine::commands::commands!(@type $command { $($field: $type),* });
        $crate::sql::engine::commands::commands!(
            @command $command -> $output as $role [$($replica)?] => $function
        );
        $crate::sql::engine::commands::commands!(@line $port [
            $($methods)*
            async fn $method(&self, $($field: $type),*) -> podo_app::Result<$output> {
                self.$run($command { $($field),* }).await
            }
        ] $($rest)*);
    };

    (@type $command:ident { $($field:ident: $type:ty),* }) => {
        pub(crate) struct $command {
            $(pub(crate) $field: $type),*
        }
    };

    (@command $command:ident -> $output:ty as $role:ident $replica:tt => $function:path) => {
        impl $crate::sql::engine::tx::Command for $command {
            type Output = $output;

            const ROLE: $crate::sql::DatabaseRole = $crate::sql::DatabaseRole::$role;
            const REPLICAS_MAY_ANSWER: bool =
                $crate::sql::engine::commands::commands!(@may_replicas_answer $replica);

            fn run<'t>(
                &'t self,
                tx: &'t mut dyn $crate::sql::engine::tx::Tx,
            ) -> futures::future::BoxFuture<'t, podo_app::Result<$output>> {
                Box::pin($function(tx, self))
            }
        }
    };

    (@may_replicas_answer []) => { false };
    (@may_replicas_answer [or_replica]) => { true };
}

pub(crate) use commands;

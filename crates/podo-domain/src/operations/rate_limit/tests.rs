use crate::operations::rate_limit::*;
use proptest::prelude::*;

const SECOND: Nanos = 1_000_000_000;
const MS: Nanos = 1_000_000;

fn is_yes(allowance: Allowance) -> bool {
    matches!(allowance, Allowance::Yes { .. })
}

#[test]
fn a_quota_of_nothing_refuses_every_request() {
    let answer = { TokenBucket::FULL }.take(Quota::per_second(0), 0);
    assert_eq!(answer, Allowance::No { retry_after: Duration::from_secs(1) });
    let (answer, is_due) = NodeBucket::default().take(Quota::per_second(0), 3, 0);
    assert_eq!((is_yes(answer), is_due), (false, false));
}

#[test]
fn a_share_is_a_quarter_and_half_of_it_makes_a_report() {
    let check = |burst, n_nodes, expected| {
        let quota = Quota::per_second(burst);
        assert_eq!((quota.share(), quota.report_at(n_nodes)), expected, "{burst} on {n_nodes}");
    };
    check(100, 2, (25, 12));
    check(100, 8, (25, 12));
    check(100, 10, (25, 10));
    check(100, 30, (25, 3));
    check(100, 1_000, (25, 1));
    check(1, 3, (1, 1));
    check(5, 3, (2, 1));
}

#[test]
fn a_period_without_end_gives_one_burst() {
    let quota = Quota { burst: 3, period: Duration::MAX };
    let mut bucket = TokenBucket::FULL;
    let n_passed = (0..10).filter(|second| is_yes(bucket.take(quota, second * SECOND))).count();
    assert_eq!(n_passed, 3);
}

/// Nodes with a shared bucket that answers when the test says so.
struct Cluster {
    quota: Quota,
    shared: TokenBucket,
    nodes: Vec<(NodeBucket, Option<(Report, TokenBucket)>)>,
    now: Nanos,
    n_taken: u64,
}

impl Cluster {
    fn new(quota: Quota, n_nodes: usize) -> Cluster {
        let nodes = vec![(NodeBucket::default(), None); n_nodes];
        Cluster { quota, shared: TokenBucket::FULL, nodes, now: 0, n_taken: 0 }
    }

    fn n_nodes(&self) -> u32 {
        self.nodes.len() as u32
    }

    fn request(&mut self, node: usize) -> bool {
        let n_nodes = self.n_nodes();
        let (answer, _) = self.nodes[node].0.take(self.quota, n_nodes, self.now);
        self.n_taken += u64::from(is_yes(answer));
        is_yes(answer)
    }

    /// The report reaches the shared bucket; its answer is pending.
    fn report(&mut self, node: usize) {
        let n_nodes = self.n_nodes();
        let (bucket, answer) = &mut self.nodes[node];
        if answer.is_none() && bucket.is_due {
            let report = bucket.report(self.quota, n_nodes);
            self.shared = self.shared.after(report, self.now);
            *answer = Some((report, self.shared));
        }
    }

    fn answer(&mut self, node: usize) {
        let (bucket, answer) = &mut self.nodes[node];
        if let Some((report, shared)) = answer.take() {
            bucket.reported(report, shared, self.now);
        }
    }

    /// The most that may have passed by now.
    fn bound(&self) -> u64 {
        let (n_nodes, quota) = (u64::from(self.n_nodes()), self.quota);
        let refilled = (self.now / quota.token()) as u64;
        let unreported = u64::from(quota.report_at(self.n_nodes()) - 1);
        let n_periods = (self.now / quota.period.as_nanos() as i64) as u64;
        let credit = n_nodes * (u64::from(quota.share()) + n_periods * unreported);
        u64::from(quota.burst) + refilled + credit
    }
}

#[test]
fn one_node_of_ten_gets_the_whole_budget() {
    let mut cluster = Cluster::new(Quota::per_second(100), 10);
    for _ in 0..100 {
        assert!(cluster.request(3), "after {}", cluster.n_taken);
        cluster.report(3);
        cluster.answer(3);
    }
    assert!(!cluster.request(3), "the burst is used up");
    cluster.now += 10 * MS;
    assert!(cluster.request(3) && !cluster.request(3), "one token in a hundredth of a second");
}

#[test]
fn a_node_takes_one_share_until_the_shared_bucket_answers() {
    let mut cluster = Cluster::new(Quota::per_second(100), 3);
    let n_passed = (0..100).filter(|_| cluster.request(0)).count();
    assert_eq!(n_passed, 25);
    cluster.report(0);
    cluster.answer(0);
    let n_passed = (0..100).filter(|_| cluster.request(0)).count();
    assert_eq!(n_passed, 25);
}

#[test]
fn what_one_node_took_is_missing_on_the_others() {
    let mut cluster = Cluster::new(Quota::per_second(100), 3);
    let mut take_all = |node: usize| {
        let mut n_passed = 0;
        for _ in 0..200 {
            n_passed += u32::from(cluster.request(node));
            cluster.report(node);
            cluster.answer(node);
        }
        n_passed
    };
    assert_eq!(take_all(0), 100);
    assert_eq!(take_all(1), 12, "until its first report");
    assert_eq!(take_all(2), 12);
    assert_eq!(take_all(0), 0);
    // The excess is refilled first.
    cluster.now += 190 * MS;
    assert!(!cluster.request(2), "20 tokens are missing: the first node has yet to report 4");
    cluster.now += 20 * MS;
    assert!(cluster.request(2));
}

/// Every node gets twice the budget for a minute.
#[test]
fn a_flood_over_all_nodes_gets_the_budget_in_the_long_run() {
    for n_nodes in [2, 3, 10, 30] {
        let mut cluster = Cluster::new(Quota::per_second(100), n_nodes);
        for step in 0..12_000_i64 {
            cluster.now = step * 5 * MS;
            for node in 0..n_nodes {
                cluster.request(node);
                cluster.report(node);
                cluster.answer(node);
            }
        }
        let excess = cluster.n_taken as i64 - 60 * 100;
        assert!((0..=100 + 25 * n_nodes as i64).contains(&excess), "{n_nodes} nodes: {excess}");
    }
}

#[test]
fn a_key_below_the_threshold_is_never_reported_and_stays_within_the_budget() {
    let mut cluster = Cluster::new(Quota::per_second(100), 10);
    for step in 0..1_000_i64 {
        cluster.now = step * 12 * MS;
        assert!(cluster.request(step as usize % 10));
        assert!(cluster.nodes.iter().all(|(bucket, _)| !bucket.is_due), "at {step}");
    }
}

#[test]
fn a_node_without_an_answer_goes_by_its_own_limit() {
    let quota = Quota::per_second(100);
    let mut bucket = NodeBucket::default();
    let count = |bucket: &mut NodeBucket, now| {
        (0..300).filter(|_| is_yes(bucket.take(quota, 3, now).0)).count()
    };
    assert_eq!(count(&mut bucket, 0), 25);
    bucket.report_failed(bucket.report(quota, 3));
    assert_eq!(count(&mut bucket, 0), 75, "the rest of its own burst");
    for second in 1..60 {
        assert_eq!(count(&mut bucket, second * SECOND), 100);
    }
    // The minute without reports isn't held against the key.
    let report = bucket.report(quota, 3);
    assert!(report.taken <= 100, "{report:?}");
    let now = 60 * SECOND;
    bucket.reported(report, TokenBucket::FULL.after(report, now), now);
    assert_eq!(count(&mut bucket, now + SECOND), 25, "and shares count again");
}

#[test]
fn a_bucket_is_kept_while_something_would_be_lost() {
    let quota = Quota::per_second(100);
    let mut bucket = NodeBucket::default();
    assert!(bucket.is_idle(quota, 0));
    bucket.take(quota, 1, 0);
    assert!(!bucket.is_idle(quota, 0), "it is not full");
    assert!(bucket.is_idle(quota, 10 * MS), "alone, a full bucket is as good as none");
    bucket.take(quota, 2, 20 * MS);
    assert!(!bucket.is_idle(quota, 40 * MS), "it counts for a report");
    assert!(bucket.is_idle(quota, 2 * SECOND));
    for _ in 0..20 {
        bucket.take(quota, 2, 3 * SECOND);
    }
    assert!(!bucket.is_idle(quota, 9 * SECOND), "an answer is expected");
}

#[test]
fn a_clock_set_back_locks_no_key_out() {
    let quota = Quota::per_second(100);
    let mut cluster = Cluster::new(quota, 3);
    cluster.now = 3_600 * SECOND;
    for _ in 0..200 {
        cluster.request(0);
        cluster.report(0);
        cluster.answer(0);
    }
    cluster.now = 0;
    cluster.request(0);
    cluster.now = 3 * SECOND;
    assert!(cluster.request(0), "the hour is not waited for");
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Requests(usize, u8),
    Report(usize),
    Answer(usize),
    Wait(u16),
}

fn steps() -> impl Strategy<Value = (u32, usize, Vec<Step>)> {
    let step = |n_nodes: usize| {
        prop_oneof![
            4 => (0..n_nodes, 1_u8..60).prop_map(|(node, n)| Step::Requests(node, n)),
            2 => (0..n_nodes).prop_map(Step::Report),
            2 => (0..n_nodes).prop_map(Step::Answer),
            1 => (0_u16..1_500).prop_map(Step::Wait),
        ]
    };
    (1_u32..200, 2_usize..12).prop_flat_map(move |(burst, n_nodes)| {
        (Just(burst), Just(n_nodes), prop::collection::vec(step(n_nodes), 1..200))
    })
}

proptest! {
    /// In any order of requests, reports and answers, all nodes together admit at most one burst,
    /// the refill, a share each, and what is too little to be reported.
    #[test]
    fn all_nodes_together_keep_the_bound((burst, n_nodes, steps) in steps()) {
        let mut cluster = Cluster::new(Quota::per_second(burst), n_nodes);
        for step in steps {
            match step {
                Step::Requests(node, n) => (0..n).for_each(|_| { cluster.request(node); }),
                Step::Report(node) => cluster.report(node),
                Step::Answer(node) => cluster.answer(node),
                Step::Wait(ms) => cluster.now += i64::from(ms) * MS,
            }
            let (n_taken, bound) = (cluster.n_taken, cluster.bound());
            prop_assert!(n_taken <= bound, "{} > {}", n_taken, bound);
        }
    }

    /// With prompt answers a key that uses one node gets what it would get on a single node, except
    /// for one report: tokens count when they are reported, not when they are taken.
    #[test]
    fn a_key_on_one_node_gets_nearly_what_it_would_get_alone(
        burst in 1_u32..200,
        n_nodes in 2_usize..12,
        pauses in prop::collection::vec(0_i64..50, 1..300),
    ) {
        let quota = Quota::per_second(burst);
        let mut cluster = Cluster::new(quota, n_nodes);
        let (mut alone, mut n_alone) = (TokenBucket::FULL, 0);
        for pause in pauses {
            cluster.now += pause * MS;
            n_alone += u64::from(is_yes(alone.take(quota, cluster.now)));
            cluster.request(0);
            cluster.report(0);
            cluster.answer(0);
            let n_lost = n_alone.saturating_sub(cluster.n_taken);
            prop_assert!(n_lost < u64::from(quota.report_at(n_nodes as u32)), "{} lost", n_lost);
        }
    }

    /// A single node behaves like a plain token bucket.
    #[test]
    fn a_single_node_is_a_plain_token_bucket(
        burst in 0_u32..200,
        pauses in prop::collection::vec(0_i64..50, 1..300),
    ) {
        let quota = Quota::per_second(burst);
        let (mut bucket, mut plain, mut now) = (NodeBucket::default(), TokenBucket::FULL, 0);
        for pause in pauses {
            now += pause * MS;
            let (answer, is_due) = bucket.take(quota, 1, now);
            prop_assert_eq!(answer, plain.take(quota, now));
            prop_assert!(!is_due);
        }
    }
}

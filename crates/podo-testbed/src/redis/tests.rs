use crate::engine::tests::is_running;
use crate::redis::*;

#[test]
fn a_server_answers() {
    let redis = Redis::start().unwrap();
    assert_eq!(redis.url(), format!("redis://127.0.0.1:{}", redis.port()));
    assert_eq!(redis.cli(&["set", "seat", "7"]).unwrap(), "OK");
    assert_eq!(redis.cli(&["get", "seat"]).unwrap(), "7");
    let refused = redis.cli(&["incrby", "seat", "x"]).unwrap_err().to_string();
    assert!(refused.contains("ERR value is not an integer"), "{refused}");
}

#[test]
fn a_killed_server_comes_back_empty_on_its_port() {
    let mut redis = Redis::start().unwrap();
    redis.cli(&["set", "seat", "7"]).unwrap();
    let (url, first) = (redis.url(), redis.pid());
    redis.kill_9().unwrap();
    assert_eq!(redis.pid(), None);
    assert!(redis.cli(&["ping"]).is_err() && redis.kill_9().is_err());
    redis.restart().unwrap();
    assert_eq!(redis.cli(&["dbsize"]).unwrap(), "0");
    assert_eq!(redis.url(), url);
    assert_ne!(redis.pid(), first);
}

#[test]
fn a_paused_server_answers_only_after_it_was_resumed() {
    let redis = Redis::start().unwrap();
    redis.pause().unwrap();
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| redis.cli(&["ping"]).unwrap());
        // A pause without an effect would be over long before this.
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert!(!answer.is_finished());
        redis.resume().unwrap();
        assert_eq!(answer.join().unwrap(), "PONG");
    });
}

#[test]
fn a_dropped_server_leaves_no_process_and_no_folder() {
    let redis = Redis::start().unwrap();
    let (pid, folder) = (redis.pid().unwrap(), redis.folder.path().to_owned());
    assert!(is_running(pid) && folder.exists());
    drop(redis);
    assert!(!is_running(pid) && !folder.exists());
}

#[test]
fn a_server_that_cannot_start_shows_its_log() {
    let failure = Redis::start_with(&["--maxmemory", "grape"], None).err().unwrap();
    let text = failure.to_string();
    assert!(text.starts_with("Redis did not start: it ended"), "{text}");
    assert!(text.contains("argument must be a memory value"), "{text}");
}

#[test]
fn a_missing_engine_is_named_with_its_package() {
    let error = run(&mut Command::new("/no/such/redis-cli")).unwrap_err();
    assert!(error.to_string().contains("install Debian's packages `redis-server`"), "{error}");
}

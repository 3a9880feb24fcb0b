//! The loop itself (contract LOOP).

use serde_json::json;

use crate::reply::Reply;
use crate::theatre::Theatre;

#[test]
fn loop_07_results_go_back_and_the_loop_goes_on() {
    let call = Reply::calls(&[("t1", "Probe", json!({ "says": "forty-two" }))]);
    let played = Theatre::new(vec![call, Reply::says("It is forty-two.")]).types(0, "How many?").play();
    assert_eq!(played.asked.len(), 2);
    let messages = played.asked[1].messages();
    let last = messages.last().unwrap();
    assert_eq!(last["role"], "user");
    assert_eq!(last["content"][0]["tool_use_id"], "t1");
    assert_eq!(last["content"][0]["content"], "forty-two");
    assert_eq!(played.reasons(), ["completed"]);
    assert_eq!(played.entries().last().unwrap().text.as_ref(), "It is forty-two.");
}

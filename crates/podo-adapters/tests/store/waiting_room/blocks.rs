//! Blocks of place numbers and lobby indexes: each is reserved once, under concurrency.

use crate::world::{World, at};
use futures::future::join_all;
use podo_app::waiting_room::port::blocks::QueueBlocks;
use podo_domain::waiting_room::{Draw, Grant, Need};

#[tokio::test]
async fn nodes_that_reserve_at_once_share_no_number() {
    let world = World::new().await;
    let reserve = |_| world.store.grant(world.schedule, Need::Numbers { above: 0 }, at(0));
    let grants: Vec<Grant> =
        join_all((0..20).map(reserve)).await.into_iter().map(Result::unwrap).collect();
    let mut blocks: Vec<_> = grants.into_iter().map(|grant| grant.numbers.unwrap()).collect();
    blocks.sort_by_key(|block| block.start);
    let are_apart = blocks.windows(2).all(|pair| pair[0].end <= pair[1].start);
    assert!(are_apart && blocks.iter().all(|block| !block.is_empty()), "{blocks:?}");
    let known = world.store.blocks(world.schedule, at(9)).await.unwrap();
    assert_eq!(known.numbers_to, blocks[19].end, "and all of them are remembered");
    assert_eq!(known.numbers_from, blocks[0].start, "whatever the time is");
    world.finish().await;
}

#[tokio::test]
async fn the_draw_is_decided_once() {
    let world = World::new().await;
    let grant = async |need| world.store.grant(world.schedule, need, at(0)).await.unwrap();
    let indexes = grant(Need::Indexes).await.indexes.unwrap();
    let ask = |n_gathered| Need::Draw { n_gathered, block: indexes.start, above: 0 };
    let drawn = join_all((10..20).map(|n_gathered| grant(ask(n_gathered)))).await;
    let first = drawn[0].draw.unwrap();
    assert!(drawn.iter().all(|grant| grant.draw == Some(first)), "{drawn:?}");
    let known = world.store.blocks(world.schedule, at(1)).await.unwrap();
    assert_eq!(known.draw, Some(first));
    let Draw { n_drawn, first } = first;
    assert_eq!(known.numbers_to, first + u64::from(n_drawn), "its numbers are reserved");
    world.finish().await;
}

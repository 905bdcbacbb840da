/**
 * A pause between two long pieces of work on the main thread, such as the passes over a document of 8 MB: requests that arrived
 * in the meantime are served first.
 */
import { Effect } from "effect"

/** A whole turn of the event loop. Yielding to other fibers alone would leave sockets unread. */
export const yieldToEventLoop: Effect.Effect<void> = Effect.callback<void>((resume) => {
  const turn = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(turn))
})

/** Maps items and yields to the event loop after every `slice` items. */
export const mapInSlices = <A, B>(
  items: ReadonlyArray<A>,
  slice: number,
  map: (item: A) => B
): Effect.Effect<ReadonlyArray<B>> => {
  if (items.length <= slice) return Effect.sync(() => items.map(map))
  const mapped: Array<B> = []
  return Effect.as(
    Effect.whileLoop({
      while: () => mapped.length < items.length,
      body: () => {
        for (const item of items.slice(mapped.length, mapped.length + slice)) mapped.push(map(item))
        return yieldToEventLoop
      },
      step: () => undefined
    }),
    mapped
  )
}

/** Work on more bytes than this is long: one pass takes some milliseconds. */
export const longWork = 1024 * 1024

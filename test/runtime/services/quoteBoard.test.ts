/** The board of quotes: the quotes that it keeps of open requests, for how long, and its listeners (A2-22, F18). */
import { assert, describe, it } from "@effect/vitest"
import type { VenueQuote } from "../../../src/machines/venue/venueObjects.ts"
import { Board, quotesKept } from "../../../src/runtime/services/trading/rfq/QuoteBoard.ts"

const quote = (id: number, state: VenueQuote["state"] = "LIVE"): VenueQuote => ({
  id,
  dealer: "D1",
  price: "60000",
  qty: "0.1",
  at: 1_000 + id,
  validUntil: 9_000,
  state
})

const opened = (): { readonly board: Board; readonly changes: Array<number> } => {
  const board = new Board()
  const changes: Array<number> = []
  board.onChange((rfqId) => changes.push(rfqId))
  board.open(1)
  return { board, changes }
}

const states = (board: Board, rfqId = 1) => board.of(rfqId).map((kept) => [kept.quote.id, kept.quote.state])

describe("the board of quotes", () => {
  it("keeps the quotes of open requests alone", () => {
    const { board, changes } = opened()
    board.receive(1, quote(31))
    board.receive(2, quote(32))
    board.close(1)
    board.receive(1, quote(33))
    assert.deepStrictEqual([states(board), states(board, 2), changes], [[], [], [1]])
  })

  it("the end of a quote stays, whatever arrives late or twice", () => {
    const { board, changes } = opened()
    board.receive(1, quote(31))
    board.receive(1, quote(31))
    board.receive(1, quote(31, "WITHDRAWN"))
    board.receive(1, quote(31))
    board.read(1, [quote(31, "EXPIRED"), quote(32, "SUPERSEDED")])
    board.receive(1, quote(32))
    assert.deepStrictEqual(states(board), [
      [31, "WITHDRAWN"],
      [32, "SUPERSEDED"]
    ])
    assert.lengthOf(changes, 3)
  })

  it("F18: a dealer's new quote replaces its older one, whichever arrives first and whether the venue reports it", () => {
    const { board } = opened()
    board.receive(1, quote(31))
    board.receive(1, { ...quote(32), dealer: "D2" })
    board.receive(1, quote(34))
    board.receive(1, quote(33))
    assert.deepStrictEqual(states(board), [
      [31, "SUPERSEDED"],
      [32, "LIVE"],
      [34, "LIVE"],
      [33, "SUPERSEDED"]
    ])
  })

  it("F18: quotes are in the order of their first arrival, and a change does not move a quote", () => {
    const { board } = opened()
    board.receive(1, quote(40))
    board.receive(1, quote(31))
    board.receive(1, quote(40, "EXPIRED"))
    const [first, second] = board.of(1)
    assert.deepStrictEqual([first?.quote.id, second?.quote.id], [40, 31])
    assert.isBelow(first?.arrival ?? 0, second?.arrival ?? 0)
  })

  it(`A2-22: the newest ${quotesKept} are kept`, () => {
    const { board } = opened()
    for (let id = 1; id <= quotesKept + 5; id++) board.receive(1, quote(id))
    assert.deepStrictEqual([board.of(1).length, board.of(1)[0]?.quote.id, board.one(1, 5)], [quotesKept, 6, null])
  })

  it("A2-22: the router's message about a request is stored with its quotes, and does not change them", () => {
    const { board, changes } = opened()
    board.receive(1, quote(31))
    board.remark(1, "The premium exceeds the budget.")
    board.remark(7, "Nobody asked.")
    assert.deepStrictEqual(board.received(1), { quotes: [quote(31)], note: "The premium exceeds the budget." })
    board.remark(1, null)
    assert.deepStrictEqual([board.note(1), board.note(7), changes], [null, null, [1]])
  })
})

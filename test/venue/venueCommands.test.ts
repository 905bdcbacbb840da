/** A tester's commands to the venue (operator surface, `sim venue`). */
import { assert, describe, it } from "@effect/vitest"
import type { VenueCommand } from "../../src/venue/VenueCommand.ts"
import { opened } from "./openedVenue.ts"

const tickerOf = ({ venue }: ReturnType<typeof opened>, symbol: string) => {
  const ticker = venue.snapshot("ticker", symbol)
  if (ticker?.channel !== "ticker") throw new Error(`no ticker of ${symbol}`)
  return ticker
}

describe("commands to the venue", () => {
  it("a price moves and holds every market of its base at once, with their books; other bases stay", () => {
    const world = opened()
    const eth = tickerOf(world, "ETH-USDC-PERP").mark
    world.command({ type: "price", symbol: "BTC-USDC-PERP", price: "61234.5", only: null })
    for (const symbol of ["BTC-USDC-PERP", "BTC-USDC", "BTC-USDC-KO"])
      assert.deepInclude(tickerOf(world, symbol), { index: "61234.5", mark: "61234.5", last: "61234.5" })
    assert.deepInclude(tickerOf(world, "BTC-USDC-PERP"), { bestBid: "61234.3", bestAsk: "61234.6" })
    assert.strictEqual(tickerOf(world, "ETH-USDC-PERP").mark, eth)
    const { seq } = tickerOf(world, "BTC-USDC-PERP")
    world.tick(5_000)
    // The price is held, with a new time.
    assert.deepInclude(tickerOf(world, "BTC-USDC-PERP"), { mark: "61234.5", last: "61234.5", seq: seq + 1 })
    assert.strictEqual(tickerOf(world, "BTC-USDC-PERP").ts, world.venue.now)
    const held = (symbol: string) => world.venue.markets().find((market) => market.symbol === symbol)?.held
    assert.deepStrictEqual([held("BTC-USDC-KO"), held("ETH-USDC-KO")], [["last", "mark", "index"], []])
    world.command({ type: "clear" })
    assert.deepStrictEqual(held("BTC-USDC-KO"), [])
  })

  it("SC-ORD-14: --only last moves the last price alone, and triggers the orders on it", () => {
    const world = opened()
    const trigger = (source: "LAST" | "MARK") => ({ source, price: "60500", direction: "AT_OR_ABOVE" }) as const
    world.place({ ref: "O-1", trigger: trigger("LAST") })
    world.place({ ref: "O-2", trigger: trigger("MARK") })
    world.command({ type: "price", symbol: "BTC-USDC-PERP", price: "60600", only: "last" })
    assert.deepInclude(tickerOf(world, "BTC-USDC-PERP"), { last: "60600", mark: "60000" })
    const states = world.venue.lookup(["O-1", "O-2"]).map(({ order }) => order?.state)
    assert.deepStrictEqual(states, ["FILLED", "WAITING"])
  })

  it("MATCH-012, SC-ORD-15: after a gap a stop fills at the market, not at its level", () => {
    const world = opened()
    world.place({ ref: "O-1", qty: "0.5", tif: "IOC" })
    const trigger = { source: "MARK", price: "59500", direction: "AT_OR_BELOW" } as const
    world.place({ ref: "O-2", side: "SELL", qty: "0.5", reduceOnly: true, trigger })
    world.command({ type: "price", symbol: "BTC-USDC-PERP", price: "59000", only: null })
    const fills = world.news().flatMap((news) => (news.type === "fill" ? [news.fill] : []))
    assert.deepInclude(fills.at(-1), { ref: "O-2", price: "58999.8" })
  })

  it("SC-BAR-01, SC-BAR-03: a price touches the levels on the straight line, and each contract ends at its own", () => {
    const world = opened()
    const knocked = world.deal({ ref: "R-1", barrier: "59900" })
    const won = world.deal({ ref: "R-2", side: "SELL", barrier: "60900", takeProfit: "59500" })
    world.command({ type: "price", symbol: "BTC-USDC", price: "59000", only: null })
    const [one, other] = world.venue.lookup([knocked, won])
    assert.deepInclude(one?.contract, { state: "KNOCKED_OUT", settlePrice: "59900" })
    assert.deepInclude(other?.contract, { state: "TAKE_PROFIT", settlePrice: "59500" })
    // A loss of 0.1 x 100 x 95 %, and a profit of 0.1 x 500.
    assert.strictEqual(world.balance("CL-1", "USDC"), "40.5")
  })

  it("A2-97: the venue trades an account by itself: a fill without a client's order, at the mark or a price", () => {
    const world = opened()
    world.place({ ref: "O-1", qty: "0.5", tif: "IOC" })
    const asked = { type: "execute", account: "CL-1", symbol: "BTC-USDC-PERP" } as const
    world.command({ ...asked, qty: "-0.2", price: null, reason: "deleverage" })
    const trades = () => {
      const message = world.venue.snapshot("trades", "BTC-USDC-PERP")
      return message?.channel === "trades" ? message.trades : []
    }
    const seen = trades().length
    assert.deepInclude(world.news().at(-1), { type: "fill" })
    const fill = world
      .news()
      .flatMap((news) => (news.type === "fill" ? [news] : []))
      .at(-1)
    assert.deepInclude(fill?.fill, { ref: null, price: "60000", qty: "0.2", side: "SELL", reason: "deleverage" })
    assert.deepInclude(fill?.order, { ref: null, state: "FILLED" })
    world.command({ ...asked, qty: "-0.3", price: "59990", reason: "liquidation" })
    assert.deepStrictEqual(world.venue.account("CL-1")?.positions, [])
    // A deleveraging is private to its two accounts; a liquidation is a public trade.
    assert.strictEqual(trades().length, seen + 1)
    assert.deepInclude(trades()[0], { price: "59990", qty: "0.3", flags: ["LIQUIDATION"] })
  })

  it("a halt stops opening orders and every trigger; a resumed market fires the triggers that were reached meanwhile", () => {
    const world = opened()
    world.place({ ref: "O-1", qty: "0.5", tif: "IOC" })
    const trigger = { source: "MARK", price: "59500", direction: "AT_OR_BELOW" } as const
    world.place({ ref: "O-2", side: "SELL", qty: "0.5", reduceOnly: true, trigger })
    const { version } = world.venue.listing()
    world.command({ type: "halt", symbol: "BTC-USDC-PERP" })
    assert.strictEqual(world.refusal({ type: "halt", symbol: "BTC-USDC-PERP" }), "BTC-USDC-PERP is halted already.")
    const listed = world.venue.listing()
    assert.strictEqual(listed.version, version + 1)
    assert.strictEqual(listed.markets.find(({ symbol }) => symbol === "BTC-USDC-PERP")?.halt?.since, world.venue.now)
    assert.strictEqual(world.place({ ref: "O-3" }).reason, "market halted")
    world.command({ type: "price", symbol: "BTC-USDC-PERP", price: "59000", only: null })
    assert.strictEqual(world.venue.lookup(["O-2"])[0]?.order?.state, "WAITING")
    world.command({ type: "resume", symbol: "BTC-USDC-PERP" })
    assert.strictEqual(world.venue.lookup(["O-2"])[0]?.order?.state, "FILLED")
    assert.deepStrictEqual(
      world.events.flatMap(({ fact }) => (fact.type === "listing" ? [fact.version] : [])),
      [version + 1, version + 2]
    )
  })

  it("a delisted perpetual settles every position at its last mark and cancels resting orders", () => {
    const world = opened()
    world.place({ ref: "O-1", qty: "0.5", tif: "IOC" })
    world.place({ ref: "O-2", price: "59500" })
    world.command({ type: "delist", symbol: "BTC-USDC-PERP" })
    const account = world.venue.account("CL-1")
    assert.deepStrictEqual([account?.positions, account?.orders], [[], []])
    const fill = world
      .news()
      .flatMap((news) => (news.type === "fill" ? [news.fill] : []))
      .at(-1)
    assert.deepInclude(fill, { side: "SELL", qty: "0.5", price: "60000", reason: "delisting" })
    assert.strictEqual(world.place({ ref: "O-3" }).reason, "market delisted")
    assert.strictEqual(world.refusal({ type: "delist", symbol: "BTC-USDC-PERP" }), "BTC-USDC-PERP is delisted.")
    for (const { positions } of world.venue.ledger())
      for (const { symbol, netQty } of positions) if (symbol === "BTC-USDC-PERP") assert.strictEqual(netQty, "0")
    world.command({ type: "clear" })
    assert.isTrue(world.venue.listing().markets.find(({ symbol }) => symbol === "BTC-USDC-PERP")?.delisted)
  })

  it("another book stays until clear; with size 0 it is empty", () => {
    const world = opened()
    world.command({ type: "book", symbol: "BTC-USDC-PERP", size: "0.5", levels: 2, spread: 10 })
    const book = () => {
      const message = world.venue.snapshot("book", "BTC-USDC-PERP")
      return message?.channel === "book" ? message : null
    }
    assert.deepStrictEqual(
      book()?.bids.map(([price]) => price),
      ["59999.4", "59999.3"]
    )
    world.command({ type: "book", symbol: "BTC-USDC-PERP", size: "0", levels: null, spread: null })
    assert.deepInclude(book(), { bids: [], asks: [], checksum: 0 })
    assert.strictEqual(world.place({ ref: "O-1" }).reason, "no market")
    world.command({ type: "clear" })
    assert.lengthOf(book()?.bids ?? [], 25)
  })

  it("knobs of a file are set; errors name their lines, and with an error no knob is set", () => {
    const world = opened()
    const set = (knobs: string) => world.refusal({ type: "set", knobs })
    assert.isNull(set("books:\n  BTC-USDC-PERP: {levels: 3}\ntickMillis: 500\n"))
    assert.deepStrictEqual(world.venue.tickMillis, 500)
    assert.match(
      set("takers: 2\nbooks:\n  BTC-USDC-PERP:\n    levels: many\n") ?? "",
      /^line 1: takers: .*; line 4: books/
    )
    assert.match(set("colour: red") ?? "", /^line 1: colour/)
    assert.match(set("takers: [1") ?? "", /^line 1/)
    assert.strictEqual(set("takers: 1\nprocesses: {DOGE: {jumps: 1}}"), "processes: no base DOGE.")
    assert.strictEqual(set("tickMillis: 250\nbooks: {BTC-USDC-KO: {levels: 1}}"), "books: BTC-USDC-KO has no book.")
    assert.strictEqual(world.venue.tickMillis, 500)
  })

  it("an impossible command is refused with a sentence and has no effect", () => {
    const world = opened()
    const before = JSON.stringify(world.venue.state())
    const execute = { type: "execute", symbol: "BTC-USDC-PERP", price: null, reason: "deleverage" } as const
    const refusals = [
      world.refusal({ type: "price", symbol: "NO-USDC-PERP", price: "1", only: null }),
      world.refusal({ type: "price", symbol: "BTC-USDC-PERP", price: "60000.05", only: null }),
      world.refusal({ type: "path", symbol: "BTC-USDC-PERP", points: [] }),
      world.refusal({
        type: "path",
        symbol: "BTC-USDC-PERP",
        points: [
          { offsetMs: 5, price: "60000" },
          { offsetMs: 4, price: "60000" }
        ]
      }),
      world.refusal({ type: "funding", symbol: "BTC-USDC", rate: "0.1" }),
      world.refusal({ ...execute, account: "CL-9", qty: "1" }),
      world.refusal({ ...execute, account: "CL-1", qty: "0.00001" }),
      world.refusal({ type: "offer", symbol: "BTC-SWAP", rateBps: 500, tenorDays: 31, qty: "1" }),
      world.refusal({ type: "pay", contractId: 7, amount: null }),
      world.refusal({ type: "resume", symbol: "BTC-USDC-PERP" }),
      world.refusal({ type: "restart" })
    ]
    assert.deepStrictEqual(refusals, [
      "No market NO-USDC-PERP.",
      "The price 60000.05 is off the grid of BTC-USDC-PERP.",
      "A path needs a point.",
      "Point 2 of the path lies before the one ahead of it.",
      "BTC-USDC has no funding.",
      "No account CL-9.",
      "The quantity 0.00001 is off the grid of BTC-USDC-PERP.",
      "BTC-SWAP has 1 to 30 days.",
      "No swap 7.",
      "BTC-USDC-PERP is not halted.",
      "restart is the server's to follow, not the books'."
    ])
    assert.strictEqual(JSON.stringify(world.venue.state()), before)
  })

  it("a number that is too large or too small is refused, the largest one is accepted", () => {
    const world = opened()
    world.call("takeOffer", { offerId: 1, qty: "1" })
    assert.strictEqual(world.place({ price: "59000", group: "g".repeat(65) }).reason, "group name too long")
    assert.strictEqual(world.place({ price: "59000", group: "g".repeat(64) }).outcome, "EXECUTED")
    const symbol = "BTC-USDC-PERP"
    const day = 86_400_000
    const book = { type: "book", symbol, size: "1", levels: null } as const
    const execute = { type: "execute", account: "CL-1", symbol, price: null, reason: "deleverage" } as const
    const fault = { type: "fault", kind: "writer-default", route: "all", symbol: null } as const
    const path = (offsetMs: number) => ({ type: "path", symbol, points: [{ offsetMs, price: "60000" }] }) as const
    const cases: ReadonlyArray<readonly [fits: VenueCommand, beyond: VenueCommand, sentence: string]> = [
      [
        { type: "price", symbol, price: "60000000", only: null },
        { type: "price", symbol, price: "60000000.1", only: null },
        `A price of ${symbol} is at most 1,000 times the one that it opened with.`
      ],
      [path(366 * day), path(366 * day + 1), "A path lasts 366 days at most."],
      [{ ...book, spread: 1_000_000 }, { ...book, spread: 1_000_001 }, "The spread is at most 1,000,000 ticks."],
      [
        { type: "funding", symbol, rate: "-0.0075" },
        { type: "funding", symbol, rate: "0.00750001" },
        "A rate lies between -0.0075 and 0.0075."
      ],
      [
        { ...execute, qty: "-166000" },
        { ...execute, qty: "166001" },
        `The quantity is more than 1,000 of the largest orders of ${symbol}.`
      ],
      [
        { type: "correctFee", contractId: 1, fee: "1" },
        { type: "correctFee", contractId: 1, fee: "1.00000001" },
        "A fee is at most what was taken."
      ],
      [
        { type: "offer", symbol: "BTC-SWAP", rateBps: 500, tenorDays: 30, qty: "10000" },
        { type: "offer", symbol: "BTC-SWAP", rateBps: 500, tenorDays: 30, qty: "10000.001" },
        "The quantity is more than 1,000 of the largest takes of BTC-SWAP."
      ],
      [
        { ...fault, forMillis: 366 * day, times: null, delayMillis: null },
        { ...fault, forMillis: 366 * day + 1, times: null, delayMillis: null },
        "A fault lasts 366 days at most."
      ],
      [
        { ...fault, forMillis: null, times: 1_000_000, delayMillis: null },
        { ...fault, forMillis: null, times: 1_000_001, delayMillis: null },
        "A fault strikes 1,000,000 times at most."
      ],
      [
        { ...fault, forMillis: null, times: null, delayMillis: 3_600_000 },
        { ...fault, forMillis: null, times: null, delayMillis: 3_600_001 },
        "A fault delays by an hour at most."
      ]
    ]
    for (const [fits, beyond, sentence] of cases) {
      assert.strictEqual(world.refusal(beyond), sentence)
      assert.isNull(world.refusal(fits), sentence)
    }
    for (let n = 1; n <= 100; n++)
      assert.isNull(world.refusal({ type: "pay", contractId: 1, amount: "0.00000001" }), `payment ${n}`)
    assert.strictEqual(
      world.refusal({ type: "pay", contractId: 1, amount: "0.00000001" }),
      "No more than 100 payments are made on one swap."
    )
  })
})

describe("the answer of a command", () => {
  const symbol = "BTC-USDC-PERP"
  const none = { count: 0, first: [] }
  type World = ReturnType<typeof opened>
  const changeOf = (world: World, command: VenueCommand) => world.venue.apply({ type: "command", command }).change
  const swap = (world: World) => world.call("takeOffer", { offerId: 1, qty: "1" })

  const price = { type: "price", symbol, price: "61000.5", only: null } as const
  const book = { type: "book", symbol, levels: 2, spread: 10 } as const
  const path = [
    { offsetMs: 0, price: "60000" },
    { offsetMs: 90_000, price: "61000" }
  ]
  const halt = { type: "halt", symbol } as const
  const knobs = "takers: 0\ntickMillis: 500\n"
  const cases: ReadonlyArray<readonly [did: string, command: VenueCommand, before?: (world: World) => void]> = [
    [`${symbol} 60,000 → 61,000.5 (held)`, price],
    [`${symbol} last 60,000 → 61,000.5 (held)`, { ...price, only: "last" }],
    ["BTC follows 2 points from 60,000 to 61,000 within 90 s", { type: "path", symbol, points: path }],
    [
      `the simulator's own book of ${symbol} has 2 levels of at most 0.5 on each side, 10 ticks apart`,
      { ...book, size: "0.5" }
    ],
    [`the simulator's own book of ${symbol} is empty`, { ...book, size: "0" }],
    [`${symbol} funding rate 0.0001 → -0.0003 (held)`, { type: "funding", symbol, rate: "-0.0003" }],
    [
      `the account sold 2 ${symbol} at 60,000 (deleverage)`,
      { type: "execute", account: "CL-1", symbol, qty: "-2", price: null, reason: "deleverage" }
    ],
    [`${symbol} is halted`, halt],
    [`${symbol} trades again`, { type: "resume", symbol }, (world) => world.command(halt)],
    [`${symbol} is delisted at 60,000`, { type: "delist", symbol }],
    ["BTC-SWAP is delisted; 1 swap settled", { type: "delist", symbol: "BTC-SWAP" }, swap],
    [
      "offer 13: 2 BTC at 500 bps for 30 days",
      { type: "offer", symbol: "BTC-SWAP", rateBps: 500, tenorDays: 30, qty: "2" }
    ],
    ["swap 1 received 1 BTC; 0.00010794 BTC is owed", { type: "pay", contractId: 1, amount: "1" }, swap],
    ["fee of swap 1 0 → 0.5 BTC", { type: "correctFee", contractId: 1, fee: "0.5" }, swap],
    [
      "ended: held prices of 1 base, 1 path, 1 halt; books and funding as usual",
      { type: "clear" },
      (world) => {
        world.command(halt)
        world.command({ type: "path", symbol: "ETH-USDC-PERP", points: [{ offsetMs: 90_000, price: "3000" }] })
      }
    ],
    ["set: tickMillis, takers; no price is held", { type: "set", knobs }]
  ]

  for (const [did, command, before] of cases)
    it(did, () => {
      const world = opened()
      before?.(world)
      assert.strictEqual(changeOf(world, command)?.did, did)
    })

  it("a price has from, to and held, and its changed orders and contracts", () => {
    const world = opened()
    const placed = (parts: Parameters<World["place"]>[0]) => ({
      id: world.place(parts).order?.id,
      ref: parts.ref,
      account: "CL-1",
      symbol
    })
    const resting = placed({ ref: "O-1", price: "59500" })
    const trigger = { source: "MARK", price: "59400", direction: "AT_OR_BELOW" } as const
    const stop = placed({ ref: "O-2", qty: "0.2", side: "SELL", reduceOnly: true, trigger })
    placed({ ref: "O-3", price: "50000" })
    const knocked = world.venue.lookup([world.deal({ ref: "R-1", barrier: "59100" })])[0]?.contract
    assert.deepStrictEqual(changeOf(world, { ...price, price: "59000" }), {
      did: `${symbol} 60,000 → 59,000 (held)`,
      from: "60000",
      to: "59000",
      held: ["index", "mark", "last"],
      filled: {
        count: 2,
        first: [
          { ...resting, state: "FILLED" },
          { ...stop, state: "CANCELLED" }
        ]
      },
      triggered: { count: 1, first: [{ ...stop, state: "CANCELLED" }] },
      cancelled: { count: 1, first: [{ ...stop, state: "CANCELLED" }] },
      ended: {
        count: 1,
        first: [{ id: knocked?.id, ref: "A-R-1", account: "CL-1", symbol: "BTC-USDC-KO", state: "KNOCKED_OUT" }]
      }
    } as never)
    assert.deepInclude(changeOf(world, price), { filled: none, triggered: none, cancelled: none, ended: none })
  })

  it("names the first 100 objects, and counts all of them", () => {
    const world = opened()
    for (let n = 1; n <= 130; n++) world.place({ ref: `O-${n}`, price: "59000", qty: "0.001" })
    const cancelled = changeOf(world, { type: "delist", symbol })?.cancelled
    assert.deepStrictEqual([cancelled?.count, cancelled?.first.length], [130, 100])
  })

  it("a refused command has none", () => {
    assert.isUndefined(changeOf(opened(), { type: "resume", symbol }))
  })
})

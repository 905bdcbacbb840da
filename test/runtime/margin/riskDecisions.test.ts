/** The consequences of an account's risk in its client's turn, by rows of F3, F9, F10 and D23, with the written rows. */
import { assert, describe, it } from "@effect/vitest"
import type { Restriction } from "../../../src/machines/client/Restriction.ts"
import { contractInput } from "../../../src/machines/contract/contractSamples.ts"
import type { Facts } from "../../../src/machines/market/Facts.ts"
import { openRfqInput } from "../../../src/machines/rfq/rfqSamples.ts"
import { advance } from "../../../src/runtime/effects/advance.ts"
import { firstRow, nextRow } from "../../../src/runtime/effects/machineRow.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import type { Turn } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { contractInTurn, endContract } from "../../../src/runtime/services/trading/contract/contractDecisions.ts"
import { instanceOf } from "../../../src/runtime/services/account/clientState.ts"
import { waitsOf } from "../../../src/runtime/services/margin/closeOutWaits.ts"
import { judgeRisk } from "../../../src/runtime/services/margin/riskDecisions.ts"
import type { Directory } from "../../../src/runtime/services/partners/Directory.ts"
import { contractsNow, factsWith, micro } from "../../fixtures/contracts.ts"
import { balance } from "../engine/fixtures.ts"
import { allTrade } from "../order/leverageTurns.ts"
import { clients, posted, view } from "../rfq/rfqTurns.ts"

const directory = { partner: () => view, stamp: () => ({ partnerId: 1, epoch: 0 }) } as Partial<
  Directory["Service"]
> as Directory["Service"]
const parts = { directory, markets: allTrade }
const ko = contractInput.symbol

interface Account {
  readonly cash: string
  /** Longs with a premium of 28.50: 0.01 at 60,000 down to 57,000. */
  readonly contracts?: number
  readonly categorization?: "RETAIL" | "PROFESSIONAL"
  readonly restrictions?: ReadonlyArray<Restriction>
  /**
   * A request to open: without an accept, with one in flight, or ended here and, as far as is known, not at the venue.
   */
  readonly request?: "OPEN" | "ACCEPTING" | "ELAPSED"
}

const contractRow = (id: number) =>
  firstRow(
    "barrierContracts",
    { ...contractInput, contractId: id, rfqId: 100 + id },
    {
      id,
      partnerId: 1,
      clientId: 1,
      rfqId: 100 + id,
      symbol: ko,
      currency: "USDC",
      amount: 28_500_000n,
      commission: 120_000n,
      openedAt: 100
    }
  ).row

const requestRow = (kind: "OPEN" | "ACCEPTING" | "ELAPSED") => {
  const { row } = firstRow(
    "rfqs",
    { ...openRfqInput, windowEndsAt: contractsNow + 60_000 },
    {
      id: 1,
      partnerId: 1,
      clientId: 1,
      symbol: ko,
      currency: "USDC",
      amount: 28_500_000n,
      createdAt: 0,
      closeContractId: null
    }
  )
  const open = nextRow("rfqs", row, { type: "CONFIRMED", at: 5, venueRfqId: 70 })?.row ?? row
  if (kind === "OPEN") return open
  if (kind === "ELAPSED") return nextRow("rfqs", open, { type: "WINDOW_ELAPSED", at: contractsNow })?.row ?? open
  const accept = { quoteId: 7, price: "60000.0", premium: "28.500000", commission: "0.120000", by: "system:router" }
  return nextRow("rfqs", open, { type: "ACCEPT", at: 6, ...accept })?.row ?? open
}

let last = 1_000

const turnOf = (state: SubjectState, facts: Facts, now = contractsNow): Turn => ({
  now,
  state,
  facts,
  draft: new CommitBuilder(),
  by: { role: "TRADE", keyLabel: "t", requestId: "t", actor: "partner:ACM" },
  nextId: () => ++last
})

const opened = ({ cash, contracts = 0, categorization = "RETAIL", restrictions = [], request }: Account) =>
  new SubjectState("client:1", {
    token: 1,
    rows: [
      {
        table: "clients",
        row: {
          ...clients,
          categorization,
          state: restrictions.length === 0 ? "ACTIVE" : "RESTRICTED",
          context: { ...clients.context, restrictions }
        }
      },
      { table: "balances", row: balance(1, micro(cash)) },
      ...Array.from({ length: contracts }, (_, at) => ({
        table: "barrierContracts" as const,
        row: contractRow(at + 1)
      })),
      ...(request === undefined ? [] : [{ table: "rfqs" as const, row: requestRow(request) }])
    ]
  })

/** The account after the turn's commit. */
const committed = ({ state, draft }: Turn): SubjectState => {
  if (!draft.isEmpty) state.adopt(draft.build({ subject: state.subject, expected: state.token }, null))
  return state
}

/** A turn in which `act` happens, judged at its end as the engine does it. */
const judged = (state: SubjectState, facts: Facts, now = contractsNow, act: (turn: Turn) => void = () => {}): Turn => {
  const turn = turnOf(state, facts, now)
  act(turn)
  judgeRisk(turn, parts)
  return turn
}

const at = (price: string) => factsWith({ [ko]: { price } })
const stale = (price: string) => factsWith({ [ko]: { price, at: contractsNow - 10_001 } })
const kinds = (turn: Turn) => turn.draft.written("notifications").map(({ kind }) => kind)
const called = (turn: Turn) => turn.draft.written("venueCalls").map(({ call, ref }) => `${call} ${ref}`)
const stateIn = (turn: Turn) => turn.draft.written("riskMonitors").map(({ state }) => state)
const episodes = (turn: Turn) => turn.draft.written("closeOuts").map(({ state }) => state)
const restrictionsIn = (turn: Turn) => turn.draft.written("clients").flatMap(({ context }) => context.restrictions)

const ends = (turn: Turn, id: number, settlePrice: string, how: "KNOCKED_OUT" | "TORN_UP") => {
  const row = contractInTurn(turn, id)
  if (row === undefined) throw new Error(`contract ${id} is not open`)
  endContract({ turn, of: instanceOf(clients, view) }, row, { how, at: turn.now, settlePrice })
}

describe("an account's recorded risk state", () => {
  // Two contracts of 28.50: 57.00. A margin call begins below that, a close-out when the remaining cash is below half
  // of the remaining premium.
  it.each([
    ["money alone", { cash: "0" }, at("60000"), []],
    ["exactly its premiums", { cash: "57", contracts: 2 }, at("57000"), []],
    ["one micro-USDC less", { cash: "56.999999", contracts: 2 }, at("60000"), ["MARGIN_CALL"]],
    ["exactly half of what is tied up", { cash: "28.5", contracts: 2 }, at("60000"), ["MARGIN_CALL"]],
    ["less than half", { cash: "28.499999", contracts: 2 }, at("60000"), ["CLOSE_OUT"]],
    ["less than half by the loss", { cash: "30", contracts: 2 }, at("59000"), ["CLOSE_OUT"]],
    ["F3: less than half by a stale mark", { cash: "30", contracts: 2 }, stale("59000"), ["MARGIN_CALL"]],
    ["nothing open, one micro-USDC missing", { cash: "-0.000001" }, at("60000"), ["NORMAL"]]
  ] as const)("F7: %s", (_, account, facts, expected) => {
    assert.deepStrictEqual<ReadonlyArray<string>>(stateIn(judged(opened(account), facts)), expected)
  })

  it("A1-12: without a market nothing is judged", () => {
    const turn = judged(opened({ cash: "-5" }), { ...at("60000"), takenAt: null })
    assert.isTrue(turn.draft.isEmpty)
  })

  it("D23: reports an entry once, and nothing while the state stays", () => {
    const turn = judged(opened({ cash: "50", contracts: 2 }), at("60000"))
    assert.deepStrictEqual(kinds(turn), ["MARGIN_CALL"])
    assert.isTrue(judged(committed(turn), at("59999")).draft.isEmpty)
  })
})

describe("a close-out", () => {
  const low = at("59000")

  it("F9: restricts, and requests the close of every contract at once; it ends as soon as the rest suffices", () => {
    const first = judged(opened({ cash: "30", contracts: 2 }), low)
    assert.deepStrictEqual(called(first), ["tearUp T-1", "tearUp T-2"])
    assert.deepStrictEqual(
      [episodes(first), stateIn(first), restrictionsIn(first)],
      [["TEARING_UP"], ["CLOSE_OUT"], ["CLOSE_OUT"]]
    )
    assert.deepStrictEqual(kinds(first), ["CLOSE_OUT", "RESTRICTION_SET"])
    const waits = judged(committed(first), low)
    assert.isTrue(waits.draft.isEmpty, "asked for already")
    const one = judged(committed(waits), low, contractsNow + 10, (turn) => ends(turn, 1, "59000", "TORN_UP"))
    // 20.00 left, of which 10.00 is an unrealized loss, for a contract that may still lose 18.50.
    assert.deepStrictEqual([episodes(one), stateIn(one)], [["DONE"], ["MARGIN_CALL"]])
    assert.deepStrictEqual(kinds(one), ["BARRIER_SETTLED", "MARGIN_CALL"])
  })

  it("F10: the missing amount once nothing is open is credited, in the same commit, to exactly zero", () => {
    const first = judged(opened({ cash: "5", contracts: 1 }), low)
    const end = judged(committed(first), low, contractsNow + 10, (turn) => ends(turn, 1, "57100", "TORN_UP"))
    const [episode] = end.draft.written("closeOuts")
    assert.deepInclude(episode?.context, { writtenOff: "23.500000", contracts: 1, endedAt: contractsNow + 10 })
    assert.deepStrictEqual(posted(end), ["settle:1 partner:ACM", `nbp:${episode?.id} system:risk`])
    assert.strictEqual(end.draft.written("balances")[0]?.cash, 0n)
    assert.deepStrictEqual(
      end.draft.written("settlementItems").map(({ type, amount }) => [type, amount]),
      [
        ["BARRIER_SETTLE", -28_500_000n],
        ["NBP_WRITEOFF", 23_500_000n]
      ]
    )
    assert.deepStrictEqual([stateIn(end), episodes(end)], [["NORMAL"], ["DONE"]])
  })

  it("F10: where the last contract's end leaves a negative balance, the episode begins and ends with it, unrestricted", () => {
    const called = judged(opened({ cash: "20", contracts: 1 }), at("60000"))
    assert.deepStrictEqual(stateIn(called), ["MARGIN_CALL"])
    const end = judged(committed(called), at("56900"), contractsNow + 10, (turn) =>
      ends(turn, 1, "57000", "KNOCKED_OUT")
    )
    assert.deepStrictEqual([stateIn(end), episodes(end)], [["NORMAL"], ["DONE"]])
    assert.deepStrictEqual(kinds(end), ["BARRIER_SETTLED", "CLOSE_OUT"])
    assert.deepStrictEqual(end.draft.written("clients"), [])
    const episodeId = `CO-${end.draft.written("closeOuts")[0]?.id}`
    assert.deepInclude(end.draft.written("ledgerTransactions").at(-1)?.refs, {
      episodeId,
      closedOutAt: contractsNow + 10
    })
  })

  it("F10: a professional gets no credit: cash stays negative, and no episode begins for it alone", () => {
    const account = { cash: "5", contracts: 1, categorization: "PROFESSIONAL" } as const
    const first = judged(opened(account), low)
    const end = judged(committed(first), low, contractsNow + 10, (turn) => ends(turn, 1, "57100", "TORN_UP"))
    assert.deepStrictEqual([stateIn(end), episodes(end)], [[], ["DONE"]])
    assert.strictEqual(end.draft.written("balances")[0]?.cash, -23_500_000n)
    const later = judged(committed(end), low, contractsNow + 5_000)
    assert.isTrue(later.draft.isEmpty)
    assert.deepStrictEqual(later.state.one("clients")?.context.restrictions, ["CLOSE_OUT"])
  })

  it("F9, A2-101: opening requests are cancelled first and waited for, two seconds at the most", () => {
    const first = judged(opened({ cash: "5", contracts: 1, request: "OPEN" }), low)
    assert.deepStrictEqual([episodes(first), called(first)], [["CANCELLING"], ["cancelRequest R-1-c1"]])
    const state = committed(first)
    assert.isTrue(judged(state, low, contractsNow + 1_999).draft.isEmpty)
    const next = judged(state, low, contractsNow + 2_000)
    assert.deepStrictEqual([episodes(next), called(next)], [["TEARING_UP"], ["tearUp T-1"]])
  })

  it("F10: nothing is written off while an accept is in flight", () => {
    const first = judged(opened({ cash: "-3", request: "ACCEPTING" }), low)
    assert.deepStrictEqual([episodes(first), stateIn(first), posted(first)], [["PROTECTING"], ["CLOSE_OUT"], []])
    // The wait names the accept. It does not name the take in flight, because the episode does not wait for it.
    const [waiting] = first.draft.written("closeOuts")
    const state = committed(first)
    state.adopt(asked("S-5"))
    const moment = { state, facts: low, markets: allTrade, now: contractsNow }
    const waits = waiting === undefined ? [] : waitsOf(moment, waiting)
    assert.deepStrictEqual(
      waits.map(({ what, why }) => `${what} ${why}`),
      ["VENUE no answer to the accept of quote 7 of request 1"]
    )
    const refused = judged(state, low, contractsNow + 10, (turn) => {
      const row = turn.state.one("rfqs")
      if (row !== undefined)
        advance(turn, "rfqs", row, { type: "ACCEPT_REFUSED", at: turn.now, quoteId: 7, reason: "late" })
    })
    assert.deepStrictEqual([episodes(refused), posted(refused)], [[], []], "the request is still to be withdrawn")
    assert.deepStrictEqual(called(refused), ["cancelRequest R-1-c1"])
  })

  it("F10: a request whose end the venue has not reported within two seconds is withdrawn, and no close-out waits for it without end", () => {
    const first = judged(opened({ cash: "-3", request: "ELAPSED" }), low)
    assert.deepStrictEqual([episodes(first), called(first), posted(first)], [["CANCELLING"], [], []])
    const state = committed(first)
    assert.isTrue(judged(state, low, contractsNow + 1_999).draft.isEmpty)
    const asked = judged(state, low, contractsNow + 2_000)
    assert.deepStrictEqual([episodes(asked), called(asked)], [["PROTECTING"], ["cancelRequest R-1-c1"]])
    const told = judged(committed(asked), low, contractsNow + 2_100, (turn) => {
      const row = turn.state.one("rfqs")
      const how = { how: "EXPIRED", reason: null, quotes: [], note: null } as const
      if (row !== undefined) advance(turn, "rfqs", row, { type: "VENUE_ENDED", at: turn.now, ...how })
    })
    assert.deepStrictEqual([episodes(told), posted(told).length], [["DONE"], 1])
  })

  it("F9: a tear-up that the venue refused is requested again after a second, under a new ref", () => {
    const first = judged(opened({ cash: "5", contracts: 1 }), low)
    const refused = judged(committed(first), low, contractsNow + 10, (turn) => {
      const row = contractInTurn(turn, 1)
      if (row !== undefined)
        advance(turn, "barrierContracts", row, { type: "TEAR_UP_FAILED", reason: "no market", isLost: false })
    })
    assert.deepStrictEqual(called(refused), [])
    const state = committed(refused)
    assert.isTrue(judged(state, low, contractsNow + 999).draft.isEmpty)
    assert.deepStrictEqual(called(judged(state, low, contractsNow + 1_000)), ["tearUp T-1-2"])
  })

  it("F3: waits for a fresh mark once it has begun, and requests closes as soon as there is one", () => {
    const first = judged(opened({ cash: "5", contracts: 1 }), low)
    const failed = judged(committed(first), stale("59000"), contractsNow + 10, (turn) => {
      const row = contractInTurn(turn, 1)
      if (row !== undefined)
        advance(turn, "barrierContracts", row, { type: "TEAR_UP_FAILED", reason: "no market", isLost: false })
    })
    assert.deepStrictEqual(episodes(failed), ["WAITING_MARK"])
    assert.deepStrictEqual(called(judged(committed(failed), low, contractsNow + 2_000)), ["tearUp T-1-2"])
  })

  it("F9: ends as soon as the equity suffices again; the restriction stays until the account is NORMAL", () => {
    const first = judged(opened({ cash: "30", contracts: 2 }), low)
    const better = judged(committed(first), at("60000"))
    assert.deepStrictEqual([episodes(better), stateIn(better)], [["DONE"], ["MARGIN_CALL"]])
    assert.deepStrictEqual(better.draft.written("clients"), [])
    const state = committed(better)
    state.adopt(paid(state, "27"))
    const normal = judged(state, at("60000"))
    assert.deepStrictEqual([stateIn(normal), kinds(normal)], [["NORMAL"], ["RESTRICTION_LIFTED"]])
  })

  it("F9: a contract that an accept opens meanwhile joins the episode", () => {
    const first = judged(opened({ cash: "5", contracts: 1 }), low)
    const joined = judged(committed(first), low, contractsNow + 10, (turn) =>
      turn.draft.put("barrierContracts", contractRow(2))
    )
    assert.deepStrictEqual(called(joined), ["tearUp T-2"])
    assert.strictEqual(joined.draft.written("closeOuts")[0]?.context.contracts, 2)
  })

  it("A3-10: exists beside another restriction, and is lifted alone", () => {
    const first = judged(opened({ cash: "5", contracts: 1, restrictions: ["NO_NEW_RISK"] }), low)
    assert.deepStrictEqual(restrictionsIn(first), ["CLOSE_OUT", "NO_NEW_RISK"])
    const end = judged(committed(first), low, contractsNow + 10, (turn) => ends(turn, 1, "57100", "TORN_UP"))
    assert.deepStrictEqual(restrictionsIn(end), ["NO_NEW_RISK"])
  })
})

/** A take in flight. */
const asked = (ref: string) => {
  const draft = new CommitBuilder()
  draft.put("venueCalls", { ref, partnerId: 1, clientId: 1, call: "takeOffer", request: { ref }, at: contractsNow })
  return draft.build({ subject: "client:1", expected: 2 }, null)
}

/** More cash, as after a deposit. */
const paid = (state: SubjectState, more: string) => {
  const draft = new CommitBuilder()
  const [row = balance(1, 0n)] = state.all("balances")
  draft.put("balances", { ...row, cash: row.cash + micro(more) })
  return draft.build({ subject: state.subject, expected: state.token }, null)
}

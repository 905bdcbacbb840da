/**
 * Filing under a reference: the guarantees for every filed object, over the memory journal
 * (services/shared/fileOnce.ts).
 */
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { accept, conflict, refuse, type Verdict } from "../../../src/machines/shared/Refusal.ts"
import { CommitBuilder, type SubjectKey } from "../../../src/runtime/engine/journal/Commit.ts"
import { type DispatchError, type Turn, Unavailable } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { RowReads } from "../../../src/runtime/ports/RowReads.ts"
import { RowReadsMemory } from "../../../src/runtime/ports/RowReadsMemory.ts"
import { fileOnce, rowFiled } from "../../../src/runtime/services/shared/fileOnce.ts"
import { type IdKind, referenceClaim } from "../../../src/runtime/tables/Catalogue.ts"
import { claimIn, correctionSpace, interfirmSpace, payoutSpace } from "../../../src/runtime/store/references.ts"
import { sampleRows } from "../engine/fixtures.ts"
import { by, failureOf, type HostBench, increment, openHost } from "../engine/hostBench.ts"

/** A filed object, as the test needs it: its claim, its row, and its read by the claim's owner. */
interface Filed {
  readonly what: string
  readonly look: "first" | "late"
  readonly subject: SubjectKey
  readonly claim: string
  readonly id: IdKind
  readonly put: (draft: CommitBuilder, id: number) => void
  readonly read: (stored: RowReads["Service"], owner: number) => Effect.Effect<number, Unavailable>
}

const idOf = Effect.map(({ id }: { readonly id: number }) => id)
const transaction = {
  id: "transaction",
  put: (draft: CommitBuilder, id: number) => draft.put("ledgerTransactions", sampleRows(id).ledgerTransactions),
  read: (stored: RowReads["Service"], owner: number) =>
    Effect.map(stored.among("ledgerTransactions", [owner]), ([row]) => row?.txId ?? 0)
} as const

const filings: ReadonlyArray<Filed> = [
  {
    what: "a deposit notice",
    look: "first",
    subject: "client:1",
    claim: referenceClaim("depositNotices", 1, "R"),
    id: "deposit",
    put: (draft, id) => draft.put("depositNotices", sampleRows(id).depositNotices),
    read: (stored, owner) => idOf(rowFiled(stored, "depositNotices")(owner))
  },
  {
    what: "a withdrawal request",
    look: "first",
    subject: "client:1",
    claim: referenceClaim("withdrawalRequests", 1, "R"),
    id: "withdrawal",
    put: (draft, id) => draft.put("withdrawalRequests", sampleRows(id).withdrawalRequests),
    read: (stored, owner) => idOf(rowFiled(stored, "withdrawalRequests")(owner))
  },
  {
    what: "a collateral report",
    look: "late",
    subject: "client:1",
    claim: referenceClaim("collateralReports", 1, "R"),
    id: "collateral",
    put: (draft, id) => draft.put("collateralReports", sampleRows(id).collateralReports),
    read: (stored, owner) => idOf(rowFiled(stored, "collateralReports")(owner))
  },
  { what: "a payout", look: "first", subject: "client:1", claim: claimIn(payoutSpace, 1, "R"), ...transaction },
  { what: "a correction", look: "late", subject: "client:1", claim: claimIn(correctionSpace, 1, "R"), ...transaction },
  {
    what: "an interfirm record",
    look: "first",
    subject: "partner:1",
    claim: claimIn(interfirmSpace, 1, "R"),
    id: "interfirm",
    put: (draft, id) => draft.put("interfirmRecords", sampleRows(id).interfirmRecords),
    read: (stored, owner) => idOf(rowFiled(stored, "interfirmRecords")(owner))
  }
]

interface World {
  readonly bench: HostBench
  readonly stored: RowReads["Service"]
  /** The number of lookups of references so far. */
  looks: number
  /** Runs after a lookup has read, before it returns. */
  afterLook: Effect.Effect<unknown, DispatchError>
  /** True: the gates accept new objects. */
  open: boolean
}

let world: World
beforeEach(async () => {
  const bench = await openHost()
  const memory = await Effect.runPromise(
    Effect.scoped(Effect.map(Layer.build(RowReadsMemory.layer({ store: bench.store })), Context.get(RowReads)))
  )
  const stored: RowReads["Service"] = {
    ...memory,
    holders: (names) => {
      world.looks++
      return Effect.tap(memory.holders(names), () => Effect.orDie(world.afterLook))
    }
  }
  world = { bench, stored, looks: 0, afterLook: Effect.void, open: true }
})
afterEach(() => world.bench.close())

/** The result of a filing: `filed <id>` now, `replayed <id>` of an earlier one, or `refused` by the gates. */
type Answer = string

const judge =
  (filed: Filed, claim: string | null) =>
  (turn: Turn, before: number | null): Verdict<Answer> => {
    if (before !== null) return accept(`replayed ${before}`)
    if (!world.open) return refuse(conflict("WRONG_STATE", "Not now."))
    const id = turn.nextId(filed.id)
    if (claim !== null) turn.draft.claim(claim, id)
    filed.put(turn.draft, id)
    return accept(`filed ${id}`)
  }

const file = (
  filed: Filed,
  {
    subject = filed.subject,
    claim = filed.claim
  }: { readonly subject?: SubjectKey; readonly claim?: string | null } = {}
): Effect.Effect<Answer, DispatchError> =>
  Effect.map(
    fileOnce<number, Answer>(
      { host: world.bench.host, stored: world.stored },
      {
        subject,
        by,
        claim,
        lookup: filed.look,
        read: (owner) => filed.read(world.stored, owner),
        decide: judge(filed, claim)
      }
    ),
    (verdict) => (verdict.ok ? verdict.value : "refused")
  )

const run = <A>(effect: Effect.Effect<A, DispatchError>): Promise<A> => Effect.runPromise(effect)

/** A commit of the mailbox that does not concern the reference. */
const traffic = ({ subject }: Filed) => world.bench.host.dispatch({ ...increment(1), subject })

const heldBy = ({ claim }: Filed) => world.bench.store.ownerOf(claim)

describe.each(filings)("$what", (filed) => {
  it("an object with a new reference is written, and costs a look-up only if the reference is looked up first", async () => {
    assert.strictEqual(await run(file(filed)), `filed ${heldBy(filed)}`)
    assert.strictEqual(world.looks, filed.look === "first" ? 1 : 0)
    assert.strictEqual(world.bench.submitted.length, 1)
  })

  it("a written one is replayed, whatever the gates answer now, and writes nothing", async () => {
    await run(file(filed))
    const written = world.bench.store.rows("ledgerTransactions").length
    for (const open of [true, false]) {
      world.open = open
      assert.strictEqual(await run(file(filed)), `replayed ${heldBy(filed)}`)
    }
    assert.strictEqual(world.bench.store.rows("ledgerTransactions").length, written)
  })

  it("of thirty concurrent requests in one mailbox one writes, and the others replay its object", async () => {
    const answers = await run(
      Effect.all(
        Array.from({ length: 30 }, () => file(filed)),
        { concurrency: "unbounded" }
      )
    )
    const owner = heldBy(filed)
    assert.deepStrictEqual(answers.toSorted(), [`filed ${owner}`, ...Array<Answer>(29).fill(`replayed ${owner}`)])
  })

  it("of concurrent requests in ten mailboxes one writes, and the others find its object", async () => {
    const subjects = Array.from({ length: 10 }, (_, at) => `${filed.subject}${at}`)
    const answers = await run(
      Effect.forEach(subjects, (subject) => file(filed, { subject }), { concurrency: "unbounded" })
    )
    const owner = heldBy(filed)
    assert.deepStrictEqual(answers.toSorted(), [`filed ${owner}`, ...Array<Answer>(9).fill(`replayed ${owner}`)])
  })

  it("a refusal leaves the reference free: the same request is accepted once the gates allow it", async () => {
    world.open = false
    assert.strictEqual(await run(file(filed)), "refused")
    assert.deepStrictEqual([heldBy(filed), world.bench.submitted.length], [undefined, 0])
    world.open = true
    assert.strictEqual(await run(file(filed)), `filed ${heldBy(filed)}`)
  })

  it("written between the look-up and a refusal: replayed, because the gate may have counted the same object", async () => {
    // Comes only between the first lookup and its turn: the filing of another call, which closes the gates.
    const other = Effect.suspend(() => {
      world.afterLook = Effect.void
      world.open = true
      return Effect.tap(file(filed), () => Effect.sync(() => (world.open = false)))
    })
    world.open = filed.look === "first"
    world.afterLook = other
    const answer = await run(file(filed))
    assert.isDefined(heldBy(filed))
    assert.strictEqual(answer, `replayed ${heldBy(filed)}`)
  })

  it("refused while the mailbox changes during every look-up: the last look-up holds it, and the refusal stays", async () => {
    world.open = false
    let moves = 0
    // A command that arrives while the mailbox is held waits for its turn, so the lookup must not wait for that
    // command.
    world.afterLook = Effect.suspend(() => {
      if (++moves === 1) return traffic(filed)
      Effect.runFork(traffic(filed))
      return Effect.void
    })
    assert.strictEqual(await run(file(filed)), "refused")
    assert.deepStrictEqual([world.looks, heldBy(filed)], [2, undefined])
  })

  it("written by a commit that is seen late, after the last look-up: the mailbox is read again, and so is the reference", async () => {
    const { bench } = world
    await run(traffic(filed))
    world.open = false
    const late = Effect.sync(() => {
      world.afterLook = Effect.void
      world.open = true
      const builder = new CommitBuilder()
      builder.claim(filed.claim, 77)
      filed.put(builder, 77)
      const expected = bench.store.image(filed.subject).token
      assert.deepStrictEqual(bench.store.apply(builder.build({ subject: filed.subject, expected }, null)), {
        _tag: "Committed"
      })
    })
    world.afterLook = Effect.tap(traffic(filed), () => Effect.sync(() => (world.afterLook = late)))
    bench.bend = (_, outcome) => {
      if (outcome._tag === "Fenced") world.open = false
      return outcome
    }
    assert.strictEqual(await run(file(filed)), "replayed 77")
  })

  it("a commit of unknown outcome: the caller gets that answer, and the same request replays the written object", async () => {
    world.bench.bend = () => ({ _tag: "Unavailable", unknown: true })
    assert.deepStrictEqual(await failureOf(file(filed)), new Unavailable({ unknown: true }))
    world.bench.bend = (_, outcome) => outcome
    world.open = false
    assert.strictEqual(await run(file(filed)), `replayed ${heldBy(filed)}`)
  })

  it("without a reference nothing is looked up, and each request writes", async () => {
    const [one, two] = [await run(file(filed, { claim: null })), await run(file(filed, { claim: null }))]
    assert.match(one, /^filed /)
    assert.match(two, /^filed /)
    assert.notStrictEqual(one, two)
    world.open = false
    assert.strictEqual(await run(file(filed, { claim: null })), "refused")
    assert.strictEqual(world.looks, 0)
  })

  it("a reference that is claimed and never found ends after a few rounds, with nothing written", async () => {
    world.bench.bend = (commit, outcome) =>
      outcome._tag === "Committed" ? { _tag: "ClaimLost", claims: commit.claims } : outcome
    const blind = { ...world.stored, holders: () => Effect.succeed([]) }
    const { host } = world.bench
    const filing = fileOnce<number, Answer>(
      { host, stored: blind },
      {
        subject: filed.subject,
        by,
        claim: filed.claim,
        lookup: filed.look,
        read: (owner) => filed.read(blind, owner),
        decide: judge(filed, filed.claim)
      }
    )
    assert.deepStrictEqual(await failureOf(filing), new Unavailable({ unknown: false }))
    assert.isAtMost(world.bench.submitted.length, 12)
  })
})

describe("a refusal that writes a row", () => {
  const report = filings.find(({ what }) => what === "a collateral report") as Filed

  it("counts as an object: it needs no look-up, keeps the reference, and can lose it to another request", async () => {
    const refusing = (subject: SubjectKey) =>
      fileOnce<number, Answer>(
        { host: world.bench.host, stored: world.stored },
        {
          subject,
          by,
          claim: report.claim,
          lookup: "late",
          read: (owner) => report.read(world.stored, owner),
          decide: (turn, before) => {
            if (before !== null) return refuse(conflict("WRONG_STATE", `refused ${before}`))
            const id = turn.nextId("collateral")
            turn.draft.claim(report.claim, id)
            report.put(turn.draft, id)
            return refuse(conflict("WRONG_STATE", `refused ${id}`))
          }
        }
      )
    const first = await run(refusing("client:1"))
    assert.strictEqual(world.looks, 0)
    assert.deepStrictEqual(first, refuse(conflict("WRONG_STATE", `refused ${heldBy(report)}`)))
    assert.deepStrictEqual(await run(refusing("client:1")), first)
    assert.deepStrictEqual(await run(refusing("client:2")), first)
    assert.strictEqual(world.bench.store.rows("collateralReports").length, 1)
  })
})

/**
 * Decisions on rows read beside a mailbox: commits in between that repeat the read, and a mailbox with commits all the
 * time (operator surface, Back office; D1).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { type ActorHost, type Command, Unavailable } from "../../../src/runtime/engine/mailbox/ActorHost.ts"
import { TurnHeld } from "../../../src/runtime/engine/mailbox/TurnHeld.ts"
import { CommitBuilder } from "../../../src/runtime/engine/journal/Commit.ts"
import { SubjectState } from "../../../src/runtime/engine/mailbox/SubjectState.ts"
import { readThenDecide } from "../../../src/runtime/services/shared/readThenDecide.ts"
import type { TableName } from "../../../src/runtime/tables/Catalogue.ts"

const subject = "client:1"
const rows = {
  balances: { clientId: 1, currency: "USDC", cash: 0n },
  documents: { id: 7, clientId: 1, deletedAt: null }
} as const
type Table = keyof typeof rows

/** A mailbox of one client. `traffic` commits between each read and the turn that follows it. */
const mailbox = (traffic: (round: number, write: (table: Table) => void) => void) => {
  const state = new SubjectState(subject, {
    token: 1,
    rows: Object.entries(rows).map(([table, row]) => ({ table, row }) as never)
  })
  const write = (table: Table): void => {
    const builder = new CommitBuilder()
    builder.put(table, { ...rows[table] } as never)
    state.adopt(builder.build({ subject, expected: state.token }, null))
  }
  let looks = 0
  let holds = 0
  const host: ActorHost["Service"] = {
    read: <A>(_: string, look: (state: SubjectState) => A) => Effect.sync(() => look(state)),
    dispatch: <A>({ decide }: Command<A>): Effect.Effect<A> =>
      Effect.suspend(() => {
        try {
          return Effect.succeed(decide({ state } as Parameters<typeof decide>[0]))
        } catch (held) {
          // The turn keeps its place: no commit changes the mailbox until the turn is released.
          if (!(held instanceof TurnHeld)) throw held
          holds++
          return Effect.andThen(held.released, host.dispatch({ decide } as Command<A>) as Effect.Effect<A>)
        }
      })
  } as unknown as ActorHost["Service"]
  const run = (restsOn?: ReadonlyArray<TableName>, heldAtLast = false) =>
    Effect.exit(
      readThenDecide(host, {
        subject,
        by: { role: "SYSTEM", keyLabel: "test", requestId: "test", actor: "SYSTEM" } as never,
        ...(restsOn === undefined ? {} : { restsOn }),
        heldAtLast,
        read: () => Effect.sync(() => void (holds === 0 ? traffic(++looks, write) : ++looks)),
        decide: () => "decided"
      })
    )
  return { run, looks: () => looks, holds: () => holds }
}

describe("readThenDecide", () => {
  it.effect("decides at once while no commit happens", () =>
    Effect.gen(function* () {
      const { run, looks } = mailbox(() => {})
      assert.deepStrictEqual([yield* run(), looks()], [Exit.succeed("decided"), 1])
    })
  )

  it.live("reads again after a commit, whatever it wrote", () =>
    Effect.gen(function* () {
      const { run, looks } = mailbox((round, write) => (round < 3 ? write("documents") : undefined))
      assert.deepStrictEqual([yield* run(), looks()], [Exit.succeed("decided"), 3])
    })
  )

  it.live("answers that the mailbox always changes, with nothing done", () =>
    Effect.gen(function* () {
      const { run, looks } = mailbox((_, write) => write("balances"))
      assert.deepStrictEqual([yield* run(), looks()], [Exit.fail(new Unavailable({ unknown: false })), 8])
    })
  )

  it.live("a mailbox that always changes is held in the last round, where the decision demands it", () =>
    Effect.gen(function* () {
      const { run, looks, holds } = mailbox((_, write) => write("balances"))
      assert.deepStrictEqual([yield* run(["balances"], true), looks(), holds()], [Exit.succeed("decided"), 8, 1])
      const resting = mailbox(() => {})
      assert.deepStrictEqual([yield* resting.run(["balances"], true), resting.holds()], [Exit.succeed("decided"), 0])
    })
  )

  it.effect("steady traffic on other tables delays no decision that does not depend on them", () =>
    Effect.gen(function* () {
      const { run, looks } = mailbox((_, write) => write("balances"))
      assert.deepStrictEqual([yield* run(["documents"]), looks()], [Exit.succeed("decided"), 1])
    })
  )

  it.live("a row that is written again counts, even with the same values", () =>
    Effect.gen(function* () {
      const { run, looks } = mailbox((round, write) => (round === 1 ? write("balances") : undefined))
      assert.deepStrictEqual([yield* run(["documents", "balances"]), looks()], [Exit.succeed("decided"), 2])
    })
  )
})

/** Finds the commits of a batch that a guard refused, and the reasons. The batch has been rolled back by then. */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Result } from "effect"
import type { SqlError } from "effect/sql"
import { answerClaim, answerKeys, claimNames } from "./Commit.ts"
import type { Outcome } from "./Journal.ts"
import type { Waiting } from "./takeBatch.ts"
import type { WriterSession } from "./writerSession.ts"

const texts = (values: ReadonlyArray<string>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))

/** Finds the commits at fault and the outcome of each. Commits that are not in the result can be written. */
export const findCulprits = (
  connection: WriterSession,
  batch: ReadonlyArray<Waiting>
): Effect.Effect<ReadonlyMap<Waiting, Outcome>, SqlError.SqlError> =>
  Effect.gen(function* () {
    const subjects = batch.flatMap(({ commit }) => (commit.fence === null ? [] : [commit.fence.subject]))
    const names = batch.flatMap(({ commit }) => commit.claims.map((claim) => claim.name))
    const partners = batch.flatMap(({ commit }) => (commit.partner === null ? [] : [BigInt(commit.partner.partnerId)]))
    const keys = batch.flatMap(({ commit }) => answerKeys(commit))
    const tokens = yield* connection.query("SELECT subject, token FROM subjects WHERE subject = ANY($1)", [
      texts(subjects)
    ])
    const owners = yield* connection.query("SELECT name, owner FROM claims WHERE name = ANY($1)", [texts(names)])
    const epochs = yield* connection.query("SELECT id, epoch FROM partners WHERE id = ANY($1)", [
      Result.getOrThrow(PgTypes.array(partners, PgTypes.OID.int8))
    ])
    const answers = yield* connection.query(
      "SELECT a.principal, a.key FROM answers a JOIN unnest($1::text[], $2::text[]) AS v(p, k) ON a.principal = v.p AND a.key = v.k",
      [texts(keys.map(({ principal }) => principal)), texts(keys.map(({ key }) => key))]
    )
    const tokenOf = new Map(tokens.rows.map((row) => [row.subject as string, Number(row.token)]))
    const ownerOf = new Map(owners.rows.map((row) => [row.name as string, Number(row.owner)]))
    for (const row of answers.rows) ownerOf.set(answerClaim(row.principal as string, row.key as string), 0)
    const epochOf = new Map(epochs.rows.map((row) => [Number(row.id), Number(row.epoch)]))
    const verdicts = new Map<Waiting, Outcome>()
    for (const waiting of batch) {
      const { fence, partner } = waiting.commit
      const lost = claimNames(waiting.commit).flatMap((name) => {
        const owner = ownerOf.get(name)
        return owner === undefined ? [] : [{ name, owner }]
      })
      if (fence !== null && (tokenOf.get(fence.subject) ?? null) !== fence.expected)
        verdicts.set(waiting, { _tag: "Fenced" })
      else if (partner !== null && epochOf.get(partner.partnerId) !== partner.epoch) {
        verdicts.set(waiting, { _tag: "PartnerMoved" })
      } else if (lost.length > 0) verdicts.set(waiting, { _tag: "ClaimLost", claims: lost })
    }
    return verdicts
  })

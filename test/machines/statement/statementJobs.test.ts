/** The due times of statements that the service makes by itself (A2-68, STS-26, STS-29). */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  equitiesDue,
  firstPlace,
  jobAfter,
  type JobPlan,
  periodOfJob,
  retryAfter
} from "../../../src/machines/statement/statementJobs.ts"

const day = 86_400_000
const at = (text: string): number => Date.parse(`${text}Z`)

/** The jobs after a midnight up to a moment. */
const jobsUntil = (from: number, to: number): ReadonlyArray<JobPlan> => {
  const jobs: Array<JobPlan> = []
  for (let next = jobAfter(firstPlace(from)); next.dueAt <= to; next = jobAfter(next)) jobs.push(next)
  return jobs
}
const shown = ({ name, dueAt, from, to }: JobPlan) =>
  [name, ...[dueAt, from, to].map((moment) => new Date(moment).toISOString().slice(0, 16))] as const

describe("statement jobs", () => {
  it("A2-68: each kind is due at its time, of its period", () =>
    assert.deepStrictEqual(
      jobsUntil(at("2026-12-31T00:00"), at("2027-05-31T00:00"))
        .filter(({ name }) => name !== "TRANSACTIONS")
        .map(shown),
      [
        ["CLIENT_ASSETS", "2027-01-02T00:30", "2026-10-01T00:00", "2027-01-01T00:00"],
        ["COSTS", "2027-01-05T00:30", "2026-01-01T00:00", "2027-01-01T00:00"],
        ["TAX", "2027-01-05T00:30", "2026-01-01T00:00", "2027-01-01T00:00"],
        ["CLIENT_ASSETS", "2027-04-02T00:30", "2027-01-01T00:00", "2027-04-01T00:00"],
        ["TAX_GB", "2027-04-06T23:30", "2026-04-05T23:00", "2027-04-05T23:00"],
        ["TAX_GB_FINAL", "2027-05-05T23:30", "2026-04-05T23:00", "2027-04-05T23:00"]
      ]
    ))

  it("STS-29: a day's job is due half an hour after the end of its day, and no day is left out", () => {
    const nights = jobsUntil(at("2027-02-27T00:00"), at("2027-03-02T12:00"))
    assert.deepStrictEqual(nights.map(shown), [
      ["TRANSACTIONS", "2027-02-27T00:30", "2027-02-26T00:00", "2027-02-27T00:00"],
      ["TRANSACTIONS", "2027-02-28T00:30", "2027-02-27T00:00", "2027-02-28T00:00"],
      ["TRANSACTIONS", "2027-03-01T00:30", "2027-02-28T00:00", "2027-03-01T00:00"],
      ["TRANSACTIONS", "2027-03-02T00:30", "2027-03-01T00:00", "2027-03-02T00:00"]
    ])
  })

  it("STS-29: jobs are in order of their due times, each once, and a continuation at any of them passes over none", () =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 1, max: 500 }), (from, days) => {
        const all = jobsUntil(from * day, (from + days) * day)
        for (const [n, job] of all.entries()) {
          const before = all[n - 1]
          if (before !== undefined) assert.isAtLeast(job.dueAt, before.dueAt)
          assert.isAtLeast(job.dueAt, job.to)
        }
        const keys = all.map(({ name, from: begins }) => `${name} ${begins}`)
        assert.strictEqual(new Set(keys).size, keys.length)
        const nights = all.filter(({ name }) => name === "TRANSACTIONS")
        for (const [n, night] of nights.entries()) if (n > 0) assert.strictEqual(night.from, nights[n - 1]?.to)
      })
    ))

  it("STS-26: the tax year of Britain is named by the year it begins in", () => {
    const gb = jobsUntil(at("2027-04-01T00:00"), at("2027-04-30T00:00")).find(
      ({ name }) => name === "TAX_GB"
    ) as JobPlan
    assert.deepInclude(periodOfJob(gb), { kind: "TAX", taxYear: 2026, isBritish: true })
    assert.throws(() => periodOfJob({ name: "EQUITIES", from: 0, to: 0 }))
  })

  it("STS-28: midnights that were missed are made up for together", () => {
    const now = 10 * day + 5
    assert.deepStrictEqual(equitiesDue(now, null), { name: "EQUITIES", dueAt: 10 * day, from: 10 * day, to: 10 * day })
    assert.deepStrictEqual(equitiesDue(now, 7 * day), {
      name: "EQUITIES",
      dueAt: 10 * day,
      from: 8 * day,
      to: 10 * day
    })
    assert.isNull(equitiesDue(now, 10 * day))
  })

  it("STS-29: a failure is tried again at growing intervals, without end", () =>
    assert.deepStrictEqual(
      [1, 2, 3, 9, 10, 100].map((tries) => retryAfter(tries) / 60_000),
      [1, 2, 4, 256, 360, 360]
    ))
})

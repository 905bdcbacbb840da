/** The onboarding part of the report. */
import { rowsTable, spread, whole } from "../markdown.ts"
import type { OnboardingFindings, OnboardingRows } from "./onboardingRounds.ts"

const titles = { onboard: "Onboardings", revise: "Revisions" } as const

const remark = ({ what, reviewed, identityChanged }: OnboardingRows): string => {
  const part = (100 * (what === "onboard" ? reviewed : identityChanged)).toFixed(0)
  return what === "onboard" ? `${part} % of them ended in a review.` : `${part} % of them changed the identity.`
}

const rowsOf = (rows: OnboardingRows, where = ""): string =>
  `### ${titles[rows.what]}, ${rows.connections} connections, from ${whole(rows.stored)} clients stored on${where}\n\n${rowsTable(rows.rows)}\n\n${remark(rows)}`

/** The rate in the second state as a multiple of the rate in the first state, for both sides. */
const growth = (first: OnboardingRows, second: OnboardingRows): string => {
  const ratio = (of: (rows: OnboardingRows) => number) => (of(second) / Math.max(1e-9, of(first))).toFixed(2)
  return `${ratio(({ rows }) => rows.service.rate.median)} times the rate (the reference ${ratio(({ rows }) => rows.tuned.rate.median)} times)`
}

const growthLines = ({ few, many }: OnboardingFindings): ReadonlyArray<string> =>
  many.flatMap((after) => {
    const before = few.find(({ what, connections }) => what === after.what && connections === after.connections)
    return before === undefined
      ? []
      : [
          `- ${titles[after.what]} at ${after.connections} connections, from ${whole(after.stored)} clients on instead of ${whole(before.stored)}: ${growth(before, after)}.`
        ]
  })

export const onboardingSection = (findings: OnboardingFindings): string => {
  const { few, many, listed, entries, otherCores } = findings
  const unlisted = many.find(({ what, connections }) => what === "onboard" && connections === listed?.connections)
  const list = `${whole(entries)} watch list entries`
  return [
    "Each onboarding is a whole request with all six sections, each revision personalInfo and attestation, all of them with an Idempotency-Key. The reference screens nobody.",
    ...few.map((rows) => rowsOf(rows)),
    ...many.map((rows) => rowsOf(rows)),
    listed === null
      ? `### Onboardings with ${list} loaded\n\n**FAILED: ${findings.listedFailure ?? ""}**`
      : rowsOf(listed, `, with ${list} loaded`),
    "### Growth",
    [
      ...growthLines(findings),
      ...(unlisted === undefined || listed === null
        ? []
        : [`- Onboardings with ${list} instead of the few of the sandbox: ${growth(unlisted, listed)}.`]),
      `- A start with ${list}: ready after ${whole(findings.listReadyMillis)} ms, ${whole(findings.listMegabytes)} MB of memory.`
    ].join("\n"),
    `${findings.revisions ? "" : "The service does not answer PUT .../kyc yet: no revisions were measured. "}${whole(findings.onboarded)} clients were onboarded at the service; every one was found stored once and whole, \`ledger verify\` held. Other programs kept ${spread(otherCores, (value) => value.toFixed(2))} cores busy during these slices.`
  ].join("\n\n")
}

/** A client's KYC file: one block per section, and tables for lists (operator surface, kyc show). */
import type { KycFileView } from "../../src/http/api/operator/KycGroup.ts"
import { type Candidate, candidatesTable, entryName } from "./candidates.ts"
import { fields, inlineText, stack, table, text, time, type View, richText, type RichText } from "./View.ts"

const titled = (title: string | RichText, ...views: ReadonlyArray<View>): ReadonlyArray<View> => [
  text(""),
  text(title),
  ...views
]

/** A JSON object as one line for each member; any other value in one line. */
const content = (data: unknown): View =>
  typeof data === "object" && data !== null && !Array.isArray(data) ? fields(data) : text(inlineText(data))

export const kycFileView = ({
  sections,
  attestation,
  identitySessions,
  screeningRuns,
  dispositions,
  entries,
  decisions,
  reportingRecord,
  revisions,
  documents,
  ...head
}: KycFileView): View =>
  stack(
    fields(head),
    ...sections.flatMap(({ code, status, data }) => titled(`${code} ${status}`, content(data))),
    ...titled("attestation", content(attestation)),
    ...identitySessions.flatMap(({ sessionId, provider, status, createdAt, data }) =>
      titled(richText`identity session ${sessionId} ${provider} ${status} ${time(createdAt)}`, content(data))
    ),
    ...screeningRuns.flatMap(({ screeningRunId, trigger, outcome, ranAt, candidates }) =>
      titled(
        richText`screening ${screeningRunId} ${trigger} ${outcome} ${time(ranAt)}`,
        Array.isArray(candidates)
          ? candidatesTable(candidates as ReadonlyArray<Candidate>, entries)
          : content(candidates)
      )
    ),
    ...titled(
      "dispositions",
      table(
        dispositions,
        {
          entry: (row) => row.entryId,
          name: (row) => entryName(row.entryId, entries),
          disposition: (row) => row.disposition,
          outcome: (row) => row.outcome,
          score: (row) => row.score?.toFixed(3) ?? null,
          by: (row) => row.decidedBy,
          at: (row) => time(row.decidedAt)
        },
        "none"
      )
    ),
    ...titled(
      "decisions",
      table(
        decisions,
        {
          decision: (row) => row.decision,
          by: (row) => row.decidedBy,
          at: (row) => time(row.decidedAt),
          reason: (row) => row.reason
        },
        "none"
      )
    ),
    ...titled("reporting record", reportingRecord === null ? text("none") : content(reportingRecord)),
    ...titled(
      "revisions",
      table(revisions, { revision: (row) => row.revision, received: (row) => time(row.receivedAt) }, "none")
    ),
    ...titled(
      "documents",
      table(
        documents,
        {
          id: (row) => row.documentId,
          type: (row) => row.type,
          file: (row) => row.filename,
          uploaded: (row) => time(row.uploadedAt),
          deleted: (row) => time(row.deletedAt)
        },
        "none"
      )
    )
  )

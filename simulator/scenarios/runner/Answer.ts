/** The result of a step, from a route or from a command, in one form for expectations and variables. */
import type { PartnerAnswer } from "../../partner/PartnerClient.ts"
import { difference, shown } from "./matching.ts"
import type { AnswerForm } from "./Scenario.ts"
import type { CommandAnswer } from "./World.ts"

export interface Answer {
  readonly succeeded: boolean
  /** HTTP status; for a command its exit status. */
  readonly status: number
  readonly code: unknown
  readonly msg: unknown
  readonly data: unknown
  readonly body: unknown
  readonly text: string
  readonly errors: unknown
  readonly replayed: boolean
  readonly retryAfter: number | null
}

type Json = Readonly<Record<string, unknown>>
const membersOf = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {})

export const ofRoute = ({ status, body, replayed, retryAfter }: PartnerAnswer): Answer => {
  const text = body.toString("utf8")
  const json = parsed(text)
  const { code, msg, data } = membersOf(json)
  return {
    succeeded: status >= 200 && status < 300,
    status,
    code,
    msg,
    data,
    body: json,
    text,
    errors: membersOf(data).errors,
    replayed,
    retryAfter
  }
}

export const ofCommand = ({ exit, document, refusal }: CommandAnswer): Answer => ({
  succeeded: exit === 0,
  status: exit,
  code: exit === 0 ? 0 : refusal?.code,
  msg: refusal?.msg,
  data: exit === 0 ? document : refusal?.data,
  body: document ?? refusal,
  text: JSON.stringify(document ?? refusal),
  errors: membersOf(refusal?.data).errors,
  replayed: false,
  retryAfter: null
})

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The first difference from the expectation, with the answer; null for none. Without a status or code the step must succeed.
 */
export const unexpectedIn = (expect: AnswerForm, answer: Answer): string | null => {
  if (!answer.succeeded && expect.status === undefined && expect.code === undefined) {
    return `the service refused (status ${answer.status}): ${shown(answer.body ?? answer.text)}`
  }
  for (const [name, value] of Object.entries(expect) as ReadonlyArray<readonly [keyof AnswerForm, unknown]>) {
    const its = difference(value, answer[name] ?? undefined, name)
    if (its !== null) return `${its}; the answer: ${answer.status} ${shown(answer.body ?? answer.text)}`
  }
  return null
}

/**
 * The request texts of an onboarding slice. All systems get the same people: complete bodies of POST /clients with all
 * six sections, and revisions with personalInfo and attestation (doc 1, Onboarding request, PUT .../kyc).
 */
import { randomUUID } from "node:crypto"
import { sampleOnboarding } from "../../src/machines/kyc/sampleOnboarding.ts"
import { makePerson, type Person, randomFrom } from "../screening/names.ts"
import type { OnboardingSlice, SideName } from "./protocol.ts"

/** The generator writes latin1, so other letters are JSON escapes. */
const asciiJson = (body: object): string =>
  JSON.stringify(body).replaceAll(
    /[\u0080-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

const numberOf = (text: string): number =>
  [...text].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) >>> 0, 7)

const namesOf = ({ first, middle, last }: Person) => ({
  first_name: first.latin,
  ...(middle === null ? {} : { middle_name: middle.latin }),
  last_name: last.latin
})

/** Person `n` of a run: a sample body with a name, a birth date and a country of its own. */
const onboarding = (n: number, tag: string, now: number) => {
  const sample = sampleOnboarding(n, tag, now)
  const person = makePerson(randomFrom(numberOf(`${tag}-${n}`)))
  return {
    ...sample,
    kyc: {
      ...sample.kyc,
      personalInfo: {
        ...sample.kyc.personalInfo,
        ...namesOf(person),
        date_of_birth: person.dob,
        citizenships: [person.country]
      }
    }
  }
}

/** The input of a client's next revision: the number of its earlier ones, and its index among the revised clients. */
interface Turn {
  readonly clientId: number
  readonly place: number
  /** The number of the revision, from 1. */
  readonly k: number
}

/**
 * Each revision changes the address. Every second one also changes the person; clients with odd indexes change one
 * revision earlier than those with even ones.
 */
const revision = ({ clientId, place, k }: Turn, now: number) => {
  const { kyc, attestation } = sampleOnboarding(clientId, "revision", now)
  const identity = 1 + Math.floor((k - 1 + (place % 2)) / 2)
  const person = makePerson(randomFrom(numberOf(`revision-${clientId}-${identity}`)))
  return {
    kyc: {
      personalInfo: {
        ...kyc.personalInfo,
        ...namesOf(person),
        date_of_birth: person.dob,
        address: { ...kyc.personalInfo.address, number: String(k) }
      }
    },
    attestation
  }
}

/** The next client, and the number of revisions of each client. The next slice continues where the last one ended. */
const turns: Record<SideName, { next: number; readonly sent: Map<number, number> }> = {
  service: { next: 0, sent: new Map() },
  reference: { next: 0, sent: new Map() }
}

const nextTurn = ({ side, clientIds }: OnboardingSlice): Turn => {
  const state = turns[side]
  const place = state.next++ % clientIds.length
  const clientId = clientIds[place] as number
  const k = (state.sent.get(clientId) ?? 0) + 1
  state.sent.set(clientId, k)
  return { clientId, place, k }
}

/** Returns the text of the next request; null: the requested number was sent. Reference, key and person are new. */
export const makeOnboardingRequests = (slice: OnboardingSlice): (() => string | null) => {
  const common = `Host: 127.0.0.1:${slice.port}\r\nAuthorization: Bearer ${slice.partnerKey}\r\nContent-Type: application/json\r\n`
  let sent = 0
  const write = (method: string, path: string, body: object): string => {
    const text = asciiJson(body)
    return `${method} /partner/v1${path} HTTP/1.1\r\n${common}Content-Length: ${text.length}\r\nIdempotency-Key: ${randomUUID()}\r\n\r\n${text}`
  }
  return () => {
    if (slice.count !== null && sent >= slice.count) return null
    const n = sent++
    if (slice.kind === "onboard") return write("POST", "/clients", onboarding(n, slice.tag, Date.now()))
    const turn = nextTurn(slice)
    return write("PUT", `/clients/${turn.clientId}/kyc`, revision(turn, Date.now()))
  }
}

/**
 * The sandbox's published last names. A client with one of them matches the watch list, receives a decision of compliance, or
 * both, without an operator. The names have no meaning outside a sandbox service (F26, D1, D2, D3).
 */
import type { SandboxDecision } from "../timerNames.ts"
import type { ScreenedPerson } from "../screening/screen.ts"
import type { WatchListName } from "../screening/WatchList.ts"

/** A decision, and its delay after the onboarding, ms of business time. */
export interface SandboxStep {
  readonly afterMillis: number
  readonly decision: SandboxDecision
}

export interface SandboxName {
  /** The last name. Upper and lower case count as equal. */
  readonly lastName: string
  /** The watch-list entry that this name matches; null when screening is clear. */
  readonly entry: { readonly list: WatchListName; readonly dob: string | null } | null
  readonly steps: ReadonlyArray<SandboxStep>
  /** The effect as partners see it, a sentence. */
  readonly shows: string
}

const later = (decision: SandboxDecision, afterMillis = 10_000): SandboxStep => ({ afterMillis, decision })

/** A birth date that no client has. On a sanctions list, the name alone then gives a possible match, never a hit. */
const otherPerson = "1850-01-01"
const hit = { list: "SANCTIONS", dob: null } as const
const possible = { list: "SANCTIONS", dob: otherPerson } as const

const name = (
  lastName: string,
  entry: SandboxName["entry"],
  steps: ReadonlyArray<SandboxStep>,
  shows: string
): SandboxName => ({ lastName, entry, steps, shows })

export const sandboxNames: ReadonlyArray<SandboxName> = [
  name("Sanctionlisted", hit, [], "client.review_required SCREENING_HIT; the client waits KYC_PENDING."),
  name("Possiblematch", possible, [], "client.review_required SCREENING_POSSIBLE_MATCH; the client waits KYC_PENDING."),
  name(
    "Politicallyexposed",
    { list: "PEP", dob: null },
    [],
    "client.review_required SCREENING_POSSIBLE_MATCH by the list of exposed persons; the client waits KYC_PENDING."
  ),
  name(
    "Clearedlater",
    possible,
    [later("clear")],
    "Held, then cleared: client.verification_decision; the client is ACTIVE at level MICA."
  ),
  name(
    "Reliancerejected",
    possible,
    [later("rejectReliance")],
    "Held, then kyc.rejected; the package is REJECTED until PUT .../kyc onboards it again, best under another last name."
  ),
  name(
    "Personrejected",
    possible,
    [later("rejectPerson")],
    "Held, then refused for good: client.verification_decision; the client is KYC_REJECTED."
  ),
  name("Documentsrequested", possible, [later("requestDocuments")], "Held, then kyc.documents_requested; it waits."),
  name(
    "Documentsaccepted",
    possible,
    [later("requestDocuments"), later("clear", 20_000)],
    "Held, then kyc.documents_requested, then client.verification_decision; the client is ACTIVE."
  ),
  name("Restrictedlater", null, [later("restrict")], "ACTIVE, then margin.restriction_set; the client is RESTRICTED."),
  name(
    "Liftedlater",
    null,
    [later("restrict"), later("lift", 20_000)],
    "ACTIVE, then margin.restriction_set, then margin.restriction_lifted; the client is ACTIVE."
  ),
  name(
    "Downgradedlater",
    null,
    [later("downgrade")],
    "ACTIVE; once its level is MICA_MIFID, client.verification_decision: back at MICA, the APPROPRIATENESS block EXPIRED."
  ),
  name("Closedlater", null, [later("close")], "ACTIVE, then CLOSED, unless money was ever booked for it."),
  name(
    "Creditedlater",
    null,
    [later("credit")],
    "ACTIVE, then 1.000000 USDC: money.movement and, under PARTNER custody, settlement.item_created."
  )
]

/** A refused decision is retried at this interval, ms, while the client is younger than the limit. */
export const sandboxRetry = { everyMillis: 10_000, untilMillis: 600_000 } as const

const byLastName: ReadonlyMap<string, SandboxName> = new Map(
  sandboxNames.map((each) => [each.lastName.toLowerCase(), each])
)

/** The published name that equals this last name, or null. */
export const sandboxNameOf = (lastName: string): SandboxName | null =>
  byLastName.get(lastName.trim().toLowerCase()) ?? null

/** Two added words keep the entry from matching any name that is not published. */
const entryFirstNames = "Brokerage Sandbox"

export const sandboxSource = "SANDBOX"

/** The watch-list entries of the published names. */
export const sandboxEntries = sandboxNames.flatMap(({ lastName, entry }) =>
  entry === null ? [] : [{ list: entry.list, name: `${entryFirstNames} ${lastName}`, dob: entry.dob, country: null }]
)

/** The person under the name of the published entry, if the last name is published; other persons unchanged. */
export const sandboxPerson = (person: ScreenedPerson): ScreenedPerson => {
  const known = sandboxNameOf(person.lastName)
  return known === null || known.entry === null
    ? person
    : { ...person, firstName: entryFirstNames, middleName: null, lastName: known.lastName }
}

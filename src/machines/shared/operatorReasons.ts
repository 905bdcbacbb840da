/** Reasons of the operator's routes only; these routes also answer with the reasons for partners (RefusalReason.ts). */

/** The reasons of 404 4004. */
const ofUnknown = {
  UNKNOWN_PARTNER: "There is no such partner.",
  UNKNOWN_SCOPE: "The name is neither a partner's nor a client's.",
  UNKNOWN_KEY: "The partner has no such key.",
  UNKNOWN_OPERATOR_KEY: "There is no such operator key.",
  UNKNOWN_APPROVAL: "There is no such approval.",
  UNKNOWN_CASE: "There is no such case.",
  UNKNOWN_CLOSE_OUT: "There is no such close-out.",
  UNKNOWN_DELIVERY: "There is no such delivery of a webhook.",
  UNKNOWN_IMPORT: "There is no such import of a watch list.",
  UNKNOWN_ENTRY: "The watch list has no such entry.",
  UNKNOWN_MACHINE: "There is no machine of this name.",
  UNKNOWN_OBJECT: "The machine has no such object.",
  UNKNOWN_STATE: "The machine has no such state.",
  UNKNOWN_MARKET: "The venue lists no such perpetual, and no client holds one.",
  UNKNOWN_EVENT: "No such event is in quarantine.",
  UNKNOWN_BREAK: "There is no such reconciliation break.",
  UNKNOWN_PAGE: "The atlas has no such page."
} as const

/** 409 4092: conflicts about partners and clients. */
const ofParties = {
  CODE_TAKEN: "Another partner has the code.",
  UID_PREFIX_TAKEN: "Another partner has the uid prefix.",
  AMBIGUOUS: "The name is that of several clients: data.candidates has their uids.",
  ALREADY: "It is in the state, or has the setting, that the command would give it.",
  WRONG_STATE: "The state that it is in does not allow the command; the sentence names the state.",
  BLOCKED: "Something has to end first: data.blockers names it.",
  PARTNER_CLOSED: "The partner is closed, or is being closed.",
  REVOKED_ALREADY: "The key was revoked before.",
  LAST_ADMIN: "It is the last live ADMIN key: create another one first.",
  NO_KYC_PACKAGE: "The client has no KYC package to decide on.",
  RELIANCE_REJECTED: "Reliance on the package was rejected: only the partner's re-onboarding leaves that state.",
  NO_OPEN_CASE: "No case of the client waits for a decision.",
  BLOCKS_MISSING: "Blocks of level MICA are missing: data.missingBlocks.",
  FILE_CHANGED: "The file that was read has changed since: read it again.",
  NOTE_NEEDED: "The client is on a list or like a person on one: a note must give the reason for the clearance.",
  OWES_MONEY: "The client owes money that has to be settled first.",
  OPEN_CLOSE_OUT: "The account is being closed out, so its categorization can't be changed.",
  NOT_NORMAL: "The account is, or would be, in a margin call or a close-out.",
  CLIENT_STATE: "The client's own rules refuse the command, for a reason that partners get as well."
} as const

/** 409 4092: conflicts about money and its records. */
const ofBooks = {
  BOOKED_ALREADY: "The reference was booked before, with other content where it says so.",
  BELOW_ZERO: "The client's balance would be below zero.",
  PARTNER_CAN_ASK: "The partner can request the money itself, so it is not paid out by hand.",
  MONEY_OUT_PAUSED: "An open reconciliation break pauses money out.",
  DESTINATION_CHANGED: "The destination is not the one that the request was filed with.",
  APPROVAL_PENDING: "An approval waits for the same: refuse it first, data.approvalId names it.",
  NEVER_PARTNER_CUSTODY: "The partner was never under PARTNER custody, so the firms owe each other nothing.",
  CLOSED_ALREADY: "The break is closed.",
  EXCEEDS_CLAIM: "The claim is smaller: data.claim.",
  DOCUMENT_DELETED: "The document was deleted, its content is gone.",
  STATEMENT_SUPERSEDED: "A later version stands in place of the statement.",
  STATEMENT_UNCHANGED: "A new version of the statement would equal the existing one."
} as const

/** 409 4092: conflicts of four-eyes approval. */
const ofApprovals = {
  APPROVAL_DECIDED: "The approval was decided before.",
  APPROVAL_EXPIRED: "The approval has expired: request the command again.",
  OWN_REQUEST: "The key that requested the command can't grant it.",
  APPROVAL_ALTERED: "The requester or the arguments of the approval were changed: it can't be granted.",
  REQUESTER_REVOKED: "The key that requested the command is revoked.",
  GRANTER_REVOKED: "The key that granted the command is revoked.",
  COMMAND_NOT_RUN: "The approval is granted, but its command can't run now: grant it again.",
  COMMAND_REFUSED: "The approval is used, and its command was refused: data.refusal has the reason."
} as const

/** 409 4092: conflicts about encryption keys, watch lists, the venue and the sandbox. */
const ofDesk = {
  KEYS_ELSEWHERE: "The keys of the service are not in a key file of its own.",
  ROTATION_RUNNING: "Values are still being sealed again after the last rotation.",
  KEYS_USED_UP: "The database can't be given another key.",
  KEY_FILE_UNUSABLE: "The key file is missing or damaged, or lacks a key that is in use.",
  KEY_FILE_NOT_WRITTEN: "The key file could not be written.",
  VERSION_OLDER: "A later version of the source is current.",
  VERSION_TAKEN: "The version of the source is there with other entries.",
  IMPORT_ENDED: "The import is not under way any more: begin it again.",
  IMPORT_OUT_OF_ORDER: "Another entry of the import comes next.",
  IMPORT_DIFFERS: "The entries that arrived are not the ones that were announced.",
  IMPORT_SHRINKS: "Too many entries of the source are not in the new version: allow the shrinking if that is right.",
  NO_HALT: "There is no halt of ours to end.",
  KNOWN_AT_VENUE: "The venue has answered, or knows it, so it can't be resolved by hand.",
  NOTHING_IN_FLIGHT: "Nothing of it is in flight at the venue, or by now another call is.",
  NO_OPEN_MARKET: "The venue lists no market that has a price and is open.",
  FOREIGN_VENUE: "The venue is no simulator that the service controls.",
  VENUE_NOT_OWN: "The sandbox trades at a venue that it does not run itself, which would keep its accounts and time.",
  SANDBOX_ONLY: "The command is for a sandbox service only.",
  FOREIGN_TABLES: "The database holds tables of other programs, which a reset would delete."
} as const

/** The reasons for operators only. */
export const operatorReasons = [
  {
    answers: [[400, 4000]],
    reasons: { REFUSED_BY_SIMULATOR: "The simulated venue does not take the command; the sentence has its words." }
  },
  { answers: [[404, 4004]], reasons: ofUnknown },
  { answers: [[409, 4092]], reasons: { ...ofParties, ...ofBooks, ...ofApprovals, ...ofDesk } },
  {
    answers: [[502, 5020]],
    reasons: { VENUE_UNREACHABLE: "The venue gives no answer: nothing was done." }
  },
  {
    answers: [
      [502, 5020],
      [503, 5030]
    ],
    reasons: { OUTCOME_UNKNOWN: "The outcome is unknown: check it before you repeat the command." }
  }
] as const

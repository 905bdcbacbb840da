/**
 * Who may do what: every operator command with the roles it is open to, and the classes that four eyes can guard. One
 * table for the server's gate, the command line's help and the tests (operator surface, rules for every command).
 * A command is named as on the command line; its route is the endpoint of the same name in the group of the same noun.
 */
export const operatorRoles = ["ADMIN", "FINANCE", "COMPLIANCE", "SUPPORT"] as const
export type OperatorRole = (typeof operatorRoles)[number]

/** Reads are open to every role: none of them shows a KYC payload or a document. */
const everyone = operatorRoles
const admin = ["ADMIN"] as const
const finance = ["ADMIN", "FINANCE"] as const
const compliance = ["ADMIN", "COMPLIANCE"] as const

export const operatorCommands = {
  "partner create": admin,
  "partner list": everyone,
  "partner show": everyone,
  "partner status": admin,
  "partner custody": admin,
  "partner reliance": compliance,
  "partner limits": admin,
  "partner cidrs": admin,
  "key issue": admin,
  "key list": everyone,
  "key revoke": admin,
  "operator create": admin,
  "operator list": everyone,
  "operator revoke": admin,
  "client list": everyone,
  "client show": everyone,
  "client restrict": compliance,
  "client lift": compliance,
  "client categorize": compliance,
  "client close": compliance,
  "client reopen": compliance,
  "client downgrade": compliance,
  "screening add": compliance,
  "screening list": everyone,
  "screening remove": compliance,
  "screening sources": everyone,
  "screening passes": everyone,
  "screening import": compliance,
  "screening entries": compliance,
  "screening finish": compliance,
  "kyc clear": compliance,
  "kyc reject": compliance,
  "kyc reject-person": compliance,
  "kyc request-documents": compliance,
  "kyc sample": compliance,
  "kyc show": compliance,
  "case list": everyone,
  "case show": everyone,
  "document list": compliance,
  "document show": compliance,
  "document delete": compliance,
  "appropriateness publish": compliance,
  "appropriateness answers": everyone,
  "deposit list": everyone,
  "deposit confirm": finance,
  "deposit reject": finance,
  "withdrawal list": everyone,
  "withdrawal approve": finance,
  "withdrawal pay": finance,
  "withdrawal reject": finance,
  "withdrawal fail": finance,
  "client payout": finance,
  "break list": everyone,
  "break open": finance,
  "break close": finance,
  "interfirm record": finance,
  "explain collateral": everyone,
  "explain deposit": everyone,
  "explain withdrawal": everyone,
  "ledger adjust": finance,
  "ledger verify": everyone,
  "ledger export": finance,
  "webhook deliveries": everyone,
  "webhook redeliver": admin,
  "encryption show": everyone,
  "encryption rotate": admin,
  "audit tail": everyone,
  "metrics show": everyone,
  "machine list": everyone,
  "machine inspect": everyone,
  "clock show": everyone,
  "clock advance": admin,
  "approval list": everyone,
  // Deciding an approval also needs the role of the command it is bound to.
  "approval grant": ["ADMIN", "FINANCE", "COMPLIANCE"],
  "approval refuse": ["ADMIN", "FINANCE", "COMPLIANCE"]
} as const satisfies Readonly<Record<string, ReadonlyArray<OperatorRole>>>
export type OperatorCommand = keyof typeof operatorCommands

/** True when the role may run the command; an unknown command is open to no role. */
export const mayRun = (role: OperatorRole, command: string): boolean =>
  Object.hasOwn(operatorCommands, command) &&
  (operatorCommands[command as OperatorCommand] as ReadonlyArray<OperatorRole>).includes(role)

/** Reads that are not open to everyone. */
const closedReads: ReadonlyArray<string> = ["ledger export"]

/** Reads that write down who read and why: they take no dry run, for a read without its audit row must not be. */
export const auditedReads: ReadonlyArray<string> = ["kyc show", "document list", "document show"]

/** True for a command that changes something: what is no read of everyone's, nor one of the few. */
export const isWriting = (command: string): boolean =>
  Object.hasOwn(operatorCommands, command) &&
  !mayRun("SUPPORT", command) &&
  !closedReads.includes(command) &&
  !auditedReads.includes(command)

/** The commands that wait for a second operator key where nothing else is set (operator surface, Four eyes). */
export const defaultFourEyes = [
  "ledger adjust",
  "withdrawal approve",
  "withdrawal pay",
  "interfirm record",
  "client payout",
  "partner custody",
  "key issue"
] as const

/** Every command that can be made to wait for one. */
export const fourEyesClasses = [...defaultFourEyes, "withdrawal fail", "break close"] as const

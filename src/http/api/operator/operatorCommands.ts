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
  "screening add": compliance,
  "screening list": everyone,
  "screening remove": compliance,
  "kyc clear": compliance,
  "kyc reject": compliance,
  "case list": everyone,
  "case show": everyone,
  "document delete": compliance,
  "appropriateness publish": compliance,
  "appropriateness answers": everyone,
  "ledger adjust": finance,
  "ledger verify": everyone,
  "webhook deliveries": everyone,
  "webhook redeliver": admin,
  "audit tail": everyone,
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

/** True when the role may run the command; an unknown command is open to nobody. */
export const mayRun = (role: OperatorRole, command: string): boolean =>
  Object.hasOwn(operatorCommands, command) &&
  (operatorCommands[command as OperatorCommand] as ReadonlyArray<OperatorRole>).includes(role)

/** The commands that can be made to wait for a second operator key (operator surface, Four eyes). */
export const fourEyesClasses = [
  "ledger adjust",
  "withdrawal approve",
  "withdrawal pay",
  "interfirm record",
  "client payout",
  "partner custody",
  "key issue"
] as const
export type FourEyesClass = (typeof fourEyesClasses)[number]

/** The kinds of statements (D20, STS-16). Without a schema, so that the command line loads them fast. */
export const statementKinds = ["ACCOUNT", "COSTS", "TRANSACTIONS", "TAX", "CLIENT_ASSETS"] as const
export type StatementKind = (typeof statementKinds)[number]

export const isStatementKind = (name: string): name is StatementKind =>
  (statementKinds as ReadonlyArray<string>).includes(name)

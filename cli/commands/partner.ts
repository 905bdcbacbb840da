/** `brokerage partner …` and `brokerage key …`: partner firms and their keys (operator surface, Back office). */
import { type Command, Option } from "commander"
import { partnerStatuses, type PartnerStatus } from "../../src/machines/partner/Partner.ts"
import { relianceStatuses, type RelianceStatus } from "../../src/machines/partner/Reliance.ts"
import { custodyModels, keyScopes, licenceTypes } from "../../src/http/api/operator/operatorTokens.ts"
import type { Cli } from "../Cli.ts"
import {
  given,
  idArgument,
  partnerArgument,
  required,
  requiredToken,
  tokenArgument,
  tokenOption,
  whole
} from "../options.ts"
import { fields, stack, table, text, time, type View } from "../views/View.ts"
import { issuedKeyView } from "../views/issuedKey.ts"
import { awaitsApproval } from "./approval.ts"

const reason = () => required("--reason <text>", "why; kept in the audit")

interface Creation {
  readonly code: string
  readonly name: string
  readonly legalName: string
  readonly country: string
  readonly licence: (typeof licenceTypes)[number]
  readonly custody?: (typeof custodyModels)[number]
  readonly collateralAsset?: string
  readonly uidPrefix?: string
  readonly sandbox?: boolean
}

export const addPartnerCommands = (program: Command, cli: Cli): void => {
  const partner = program.command("partner").description("partner firms")
  partner
    .command("create")
    .description("create an ACTIVE partner with reliance NONE")
    .addOption(required("--code <code>", "the partner's name in commands"))
    .addOption(required("--name <name>", "display name"))
    .addOption(required("--legal-name <name>", "legal name"))
    .addOption(required("--country <CC>", "ISO 3166-1 alpha-2"))
    .addOption(requiredToken("--licence <type>", "licence type", licenceTypes))
    .addOption(tokenOption("--custody <model>", "custody model (default BROKER)", custodyModels))
    .option("--collateral-asset <name>", "the partner's stablecoin, under PARTNER custody")
    .option("--uid-prefix <prefix>", "prefix of client uids (default CL, or made from the code)")
    .option("--sandbox", "a sandbox partner, in a sandbox service only")
    .action((options: Creation, command: Command) =>
      cli.call(
        command,
        (client) => client.partner.create({ payload: creationOf(options) }),
        ({ notes, ...profile }) => stack(fields(profile), ...notes.map(text))
      )
    )
  partner
    .command("list")
    .description("all partners")
    .action((_: object, command: Command) =>
      cli.call(
        command,
        (client) => client.partner.list(),
        ({ partners }) =>
          table(
            partners,
            {
              id: (row) => row.partnerId,
              code: (row) => row.code,
              name: (row) => row.name,
              status: (row) => row.status,
              reliance: (row) => row.relianceStatus,
              custody: (row) => row.custodyModel,
              created: (row) => time(row.createdAt)
            },
            "no partners"
          )
      )
    )
  partner
    .command("show")
    .description("one partner's profile")
    .addArgument(partnerArgument())
    .action((p: string, _: object, command: Command) =>
      cli.call(command, (client) => client.partner.show({ params: { partner: p } }), fields)
    )
  addPartnerMoves(partner, cli)
  addKeyCommands(program, cli)
}

const creationOf = (options: Creation) =>
  given({
    code: options.code,
    name: options.name,
    legalName: options.legalName,
    country: options.country,
    licence: options.licence,
    custody: options.custody,
    collateralAsset: options.collateralAsset,
    uidPrefix: options.uidPrefix,
    sandbox: options.sandbox
  })

interface Decision {
  readonly reason: string
  readonly dryRun?: boolean
}

interface CustodyOptions extends Decision {
  readonly collateralAsset?: string
}

const dryRun = () => new Option("--dry-run", "change nothing; list the open items that block it")

const blockersView = ({ blockers }: { readonly blockers: ReadonlyArray<string> }): View =>
  blockers.length === 0 ? text("No open item blocks it.") : stack(...blockers.map(text))

const addPartnerMoves = (partner: Command, cli: Cli): void => {
  partner
    .command("status")
    .description("suspend, reactivate or close a partner")
    .addArgument(partnerArgument())
    .addArgument(tokenArgument("<status>", "the new status", partnerStatuses))
    .addOption(reason())
    .addOption(dryRun())
    .action((p: string, status: PartnerStatus, options: Decision, command: Command) =>
      cli.call(
        command,
        (client) =>
          client.partner.status({
            params: { partner: p },
            payload: { status, reason: options.reason }
          }),
        (data) => ("dryRun" in data ? blockersView(data) : fields(data)),
        options.dryRun === true ? {} : { confirm: statusQuestions[status](p) }
      )
    )
  partner
    .command("custody")
    .description("change the holder of the clients' money; refused with the list of the open items that block it")
    .addArgument(partnerArgument())
    .addArgument(tokenArgument("<model>", "the new custody model", custodyModels))
    .option("--collateral-asset <name>", "the partner's stablecoin, under PARTNER custody")
    .addOption(reason())
    .addOption(dryRun())
    .action((p: string, custody: (typeof custodyModels)[number], options: CustodyOptions, command: Command) =>
      cli.call(
        command,
        (client) =>
          client.partner.custody({
            params: { partner: p },
            payload: given({ custody, collateralAsset: options.collateralAsset, reason: options.reason })
          }),
        (data) =>
          "approvalId" in data ? awaitsApproval(data.approvalId) : "dryRun" in data ? blockersView(data) : fields(data),
        options.dryRun === true ? {} : { confirm: `Put ${p} under ${custody} custody?` }
      )
    )
  partner
    .command("reliance")
    .description("change the reliance on the partner's KYC")
    .addArgument(partnerArgument())
    .addArgument(tokenArgument("<status>", "the new reliance status", relianceStatuses))
    .addOption(reason())
    .action((p: string, status: RelianceStatus, options: { readonly reason: string }, command: Command) =>
      cli.call(
        command,
        (client) => client.partner.reliance({ params: { partner: p }, payload: { status, reason: options.reason } }),
        fields,
        status in relianceEffects ? { confirm: `Set reliance on ${p} to ${status}? ${relianceEffects[status]}` } : {}
      )
    )
  const perMinute = (flags: string, what: string) =>
    new Option(flags, `${what} requests a minute`).argParser(whole(1, 1_000_000_000))
  partner
    .command("limits")
    .description("set the partner's rate limits; without options show them")
    .addArgument(partnerArgument())
    .addOption(perMinute("--read <n>", "read"))
    .addOption(perMinute("--trade <n>", "trade"))
    .action((p: string, { read, trade }: { readonly read?: number; readonly trade?: number }, command: Command) =>
      read === undefined && trade === undefined
        ? showPartner(cli, p, command)
        : cli.call(
            command,
            (client) => client.partner.limits({ params: { partner: p }, payload: given({ read, trade }) }),
            fields,
            { confirm: `Set the limits of ${p}? Requests above them are refused.` }
          )
    )
  partner
    .command("cidrs")
    .description("set the address ranges the partner may call from; without any show them")
    .addArgument(partnerArgument())
    .argument("[CIDR...]", "address ranges")
    .option("--clear", "remove all ranges: the partner may call from any address")
    .action((p: string, cidrs: ReadonlyArray<string>, { clear }: { readonly clear?: boolean }, command: Command) => {
      if (clear === true && cidrs.length > 0) command.error("error: --clear takes no address ranges.")
      if (clear !== true && cidrs.length === 0) return showPartner(cli, p, command)
      return cli.call(
        command,
        (client) => client.partner.cidrs({ params: { partner: p }, payload: { cidrs } }),
        fields,
        {
          confirm:
            clear === true || cidrs.some(isEverywhere)
              ? `Let ${p} call from any address?`
              : `Let ${p} call only from ${cidrs.join(", ")}? Its requests from other addresses are refused from then on.`
        }
      )
    })
}

/** Shows the profile, limits and address ranges included. It changes nothing, although the command can. */
const showPartner = (cli: Cli, p: string, command: Command): Promise<void> =>
  cli.call(command, (client) => client.partner.show({ params: { partner: p } }), fields, { reads: true })

/** Whether a range has no fixed bits and so covers every address. */
const isEverywhere = (cidr: string): boolean => /\/0+$/.test(cidr.trim())

const statusQuestions: Readonly<Record<PartnerStatus, (p: string) => string>> = {
  ACTIVE: (p) => `Reactivate ${p}? Requests with its keys are accepted again.`,
  SUSPENDED: (p) => `Suspend ${p}? Every request with its keys is refused from then on.`,
  CLOSED: (p) => `Close ${p} for good and revoke all its keys?`
}

/** The effects of a change of reliance; NONE and REQUESTED neither open nor close the onboarding writes. */
const relianceEffects: Partial<Record<RelianceStatus, string>> = {
  APPROVED: "Its onboarding writes are accepted from then on.",
  SUSPENDED: "Its onboarding writes are refused from then on.",
  REVOKED: "Its onboarding writes are refused from then on."
}

const addKeyCommands = (program: Command, cli: Cli): void => {
  const key = program.command("key").description("partner API keys")
  key
    .command("issue")
    .description("issue a key; it is shown only once")
    .addArgument(partnerArgument())
    .addOption(required("--label <text>", "the purpose of the key"))
    .addOption(requiredToken("--scope <scope>", "the permissions of the key", keyScopes))
    .action(
      (
        p: string,
        { label, scope }: { readonly label: string; readonly scope: (typeof keyScopes)[number] },
        command: Command
      ) =>
        cli.call(
          command,
          (client) => client.key.issue({ params: { partner: p }, payload: { label, scope } }),
          (data) => ("approvalId" in data ? awaitsApproval(data.approvalId) : issuedKeyView(data))
        )
    )
  key
    .command("list")
    .description("a partner's keys, without the keys themselves")
    .addArgument(partnerArgument())
    .action((p: string, _: object, command: Command) =>
      cli.call(
        command,
        (client) => client.key.list({ params: { partner: p } }),
        ({ keys }) =>
          table(
            keys,
            {
              id: (row) => row.keyId,
              prefix: (row) => row.prefix,
              label: (row) => row.label,
              scope: (row) => row.scope,
              status: (row) => row.status,
              created: (row) => time(row.createdAt),
              "last used": (row) => time(row.lastUsedAt)
            },
            "no keys"
          )
      )
    )
  key
    .command("show")
    .description("one key, without the key itself, with the operator keys that issued and revoked it")
    .addArgument(idArgument("<KEYID>", "key id"))
    .action((keyId: string, _: object, command: Command) =>
      cli.call(command, (client) => client.key.show({ params: { keyId } }), fields, {
        decided: (data) => `apiKey:${data.keyId}`
      })
    )
  key
    .command("revoke")
    .description("revoke a key for good")
    .addArgument(idArgument("<KEYID>", "key id"))
    .option("--reason <text>", "why; kept in the audit")
    .action((keyId: string, options: { readonly reason?: string }, command: Command) =>
      cli.call(
        command,
        (client) => client.key.revoke({ params: { keyId }, payload: given({ reason: options.reason }) }),
        fields,
        { about: `apiKey:${keyId}`, confirm: `Revoke key ${keyId} for good?` }
      )
    )
}

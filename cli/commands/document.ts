/** `brokerage document …`: uploaded documents, for compliance (operator surface, Back office; A1-38). */
import type { Command } from "commander"
import type { Cli } from "../Cli.ts"
import { findConnection } from "../connection.ts"
import { clientArgument, idArgument, required } from "../options.ts"
import { intoFile, refuseExisting } from "../outputFile.ts"
import { fields, stack, table, text, time } from "../views/View.ts"

export const addDocumentCommands = (program: Command, cli: Cli): void => {
  const document = program.command("document").description("documents of clients")
  document
    .command("list")
    .description("a client's documents, deleted ones too, without their content")
    .addArgument(clientArgument())
    .addOption(required("--reason <text>", "why you read it; kept in the audit"))
    .action((client: string, { reason }: { readonly reason: string }, command: Command) =>
      cli.call(
        command,
        (api) => api.document.list({ params: { client }, payload: { reason } }),
        ({ documents }) =>
          table(
            documents,
            {
              id: (row) => row.documentId,
              purpose: (row) => row.purpose,
              type: (row) => row.type,
              filename: (row) => row.filename,
              "mime type": (row) => row.mimeType,
              bytes: (row) => row.sizeBytes,
              uploaded: (row) => time(row.uploadedAt),
              deleted: (row) => time(row.deletedAt)
            },
            "no documents"
          )
      )
    )
  document
    .command("show")
    .description("one document; its content goes to a file")
    .addArgument(idArgument("<DOCUMENTID>", "document id"))
    .addOption(required("--reason <text>", "why you read it; kept in the audit"))
    .option("--output <file>", "write the content to a file, readable by you alone; --yes overwrites it")
    .action((documentId: string, options: ShowOptions, command: Command) =>
      showDocument(cli, documentId, options, command)
    )
  document
    .command("delete")
    .description("delete a document's content for good; its metadata stays on file")
    .addArgument(idArgument("<DOCUMENTID>", "document id"))
    .addOption(required("--reason <text>", "why; kept in the audit"))
    .action((documentId: string, { reason }: { readonly reason: string }, command: Command) =>
      cli.call(command, (api) => api.document.delete({ params: { documentId }, payload: { reason } }), fields, {
        confirm: `Delete the content of document ${documentId} for good?`
      })
    )
}

interface ShowOptions {
  readonly reason: string
  readonly output?: string
}

/** Shows a document. Its content is requested only when a file for it is given, because each read is audited. */
const showDocument = (cli: Cli, documentId: string, { reason, output }: ShowOptions, command: Command): Promise<void> =>
  cli.attempt(command, async (globals) => {
    const connection = findConnection(globals, cli.io)
    const { callService } = await import("../OperatorClient.ts")
    const fetched = (content: boolean) =>
      callService(connection, (api) => api.document.show({ params: { documentId }, payload: { reason, content } }))
    if (output === undefined) {
      const { dataBase64: _, ...facts } = (await fetched(false)).data
      return cli.show(globals, facts, (shown) => stack(fields(shown), text(`Save its content with --output FILE.`)))
    }
    refuseExisting(output, globals)
    const facts = await intoFile(output, async (write) => {
      const { dataBase64, ...known } = (await fetched(true)).data
      write(Buffer.from(dataBase64 ?? "", "base64"))
      return known
    })
    return cli.show(globals, { ...facts, output }, fields)
  })

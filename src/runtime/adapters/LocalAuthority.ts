/**
 * LocalAuthority: the local certificate authority and the server certificate that `serve` uses without TLS files. The API is TLS
 * only, also on a laptop: clients trust DATA_DIR/tls/ca.pem once, so the authority is kept permanently and only the server's
 * certificate is renewed. Source: operator surface, `serve` (DATA_DIR/tls).
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { createPrivateKey, randomBytes, webcrypto, X509Certificate } from "node:crypto"
import * as Fs from "node:fs"
import { isIP } from "node:net"
import { join } from "node:path"
import { writeWhole } from "./writeWhole.ts"

/** The files in DATA_DIR/tls can't be read, written or used. The sentence is for the operator. */
export class LocalAuthorityError extends Schema.TaggedError<LocalAuthorityError>()("LocalAuthorityError", {
  sentence: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return this.sentence
  }
}

/** Paths of the files and the PEM texts that a TLS server needs. */
export interface ServerCertificate {
  readonly caFile: string
  readonly certificateFile: string
  readonly keyFile: string
  readonly ca: string
  readonly certificate: string
  readonly key: string
}

export interface LocalAuthorityOptions {
  /** The service's data directory; the files are in its folder `tls`. */
  readonly dataDirectory: string
  /** The value of `--host` (a name or an address), certified beside localhost, 127.0.0.1 and ::1. */
  readonly host?: string
}

/** The certificate of this service; the layer creates or renews it once at start. */
export class LocalAuthority extends Context.Service<LocalAuthority, ServerCertificate>()(
  "brokerage/runtime/adapters/LocalAuthority"
) {
  /** Creates missing files in DATA_DIR/tls, renews the server certificate if needed, and returns the files for TLS. */
  static readonly ensure = (options: LocalAuthorityOptions): Effect.Effect<ServerCertificate, LocalAuthorityError> =>
    ensureFiles(options)

  static readonly layer = (options: LocalAuthorityOptions) =>
    Layer.effect(LocalAuthority, LocalAuthority.ensure(options))
}

interface Pair {
  readonly certificate: string
  readonly key: string
}

const dayMillis = 86_400_000
const authorityDays = 3650
/** Apple refuses longer certificates, even from an authority that the user added. */
const leafDays = 397
/** A certificate with less than this time left is renewed at start. */
const renewBeforeMillis = 30 * dayMillis
const curve = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }
const replaceHint = "Move the tls folder of the data directory away to make a new one, and trust its new ca.pem."

const ensureFiles = Effect.fn("LocalAuthority.ensure")(function* (options: LocalAuthorityOptions) {
  const now = yield* Clock.currentTimeMillis
  const hosts = yield* certifiedHosts(options.host)
  const folder = join(options.dataDirectory, "tls")
  yield* attempt("The tls folder of the data directory can not be made.", () =>
    Fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  )
  const kept = yield* readAuthority(folder, now)
  const authority = kept ?? (yield* issue(undefined, [], now))
  if (kept === undefined) yield* writePair(folder, "ca", authority)
  const keptLeaf = readLeaf(folder, authority, hosts, now)
  const leaf = keptLeaf ?? (yield* issueLeaf(authority, hosts, now))
  if (keptLeaf === undefined) yield* writePair(folder, "server", leaf)
  return {
    caFile: join(folder, "ca.pem"),
    certificateFile: join(folder, "server.pem"),
    keyFile: join(folder, "server.key"),
    ca: authority.certificate,
    ...leaf
  } satisfies ServerCertificate
})

const certifiedHosts = (host: string | undefined) =>
  Effect.suspend(() => {
    const bare = host?.replace(/^\[(.*)\]$/, "$1").toLowerCase()
    const usable =
      bare === undefined || isIP(bare) !== 0 || /^(?=.{1,253}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/.test(bare)
    return usable
      ? Effect.succeed([...new Set(["localhost", "127.0.0.1", "::1", ...(bare === undefined ? [] : [bare])])])
      : Effect.fail(fail("The host of the service has to be a host name or an IP address."))
  })

const fail = (sentence: string, cause?: unknown) =>
  new LocalAuthorityError(cause === undefined ? { sentence } : { sentence, cause })

const attempt = <A>(sentence: string, run: () => A) => Effect.try({ try: run, catch: (cause) => fail(sentence, cause) })

/**
 * The kept authority; undefined if there is none (the key is written first, so a key alone is an interrupted first start) or if
 * it is about to expire. An unusable authority is never replaced silently, because clients trust it.
 */
const readAuthority = (folder: string, now: number) =>
  Fs.existsSync(join(folder, "ca.pem"))
    ? attempt(`The local certificate authority can not be used. ${replaceHint}`, () => {
        const pair = readPair(folder, "ca")
        const authority = new X509Certificate(pair.certificate)
        // An authority without its key can't sign another certificate, but stays valid for the current server certificate.
        if (pair.key !== "" && !authority.checkPrivateKey(createPrivateKey(pair.key))) throw new Error("key mismatch")
        return endsSoon(authority, now) ? undefined : pair
      })
    : Effect.succeed(undefined)

/**
 * The kept server certificate; undefined if it is missing, incomplete, about to expire, of another authority or for other hosts.
 */
const readLeaf = (folder: string, authority: Pair, hosts: ReadonlyArray<string>, now: number): Pair | undefined => {
  try {
    const pair = readPair(folder, "server")
    const leaf = new X509Certificate(pair.certificate)
    const issuer = new X509Certificate(authority.certificate)
    const usable =
      leaf.checkPrivateKey(createPrivateKey(pair.key)) &&
      leaf.checkIssued(issuer) &&
      leaf.verify(issuer.publicKey) &&
      !endsSoon(leaf, now) &&
      leaf.subjectAltName?.split(", ").length === hosts.length &&
      hosts.every((host) => (isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host)) !== undefined)
    return usable ? pair : undefined
  } catch {
    return undefined
  }
}

const endsSoon = (certificate: X509Certificate, now: number) =>
  certificate.validToDate.getTime() - now < renewBeforeMillis

const readPair = (folder: string, name: string): Pair => {
  const key = join(folder, `${name}.key`)
  return {
    certificate: Fs.readFileSync(join(folder, `${name}.pem`), "utf8"),
    key: Fs.existsSync(key) ? Fs.readFileSync(key, "utf8") : ""
  }
}

/**
 * Each file is replaced atomically. A pair that a crash left incomplete does not match and is created again at the next start.
 */
const writePair = (folder: string, name: string, pair: Pair) =>
  attempt("The tls files of the data directory can not be written.", () => {
    writeWhole(join(folder, `${name}.key`), pair.key, 0o600)
    writeWhole(join(folder, `${name}.pem`), pair.certificate, 0o644)
  })

const issueLeaf = (authority: Pair, hosts: ReadonlyArray<string>, now: number) =>
  authority.key === ""
    ? Effect.fail(fail(`The key of the local certificate authority is missing. ${replaceHint}`))
    : issue(authority, hosts, now)

/** A new key and its certificate: the authority itself without `authority`, otherwise a server certificate signed by it. */
const issue = (authority: Pair | undefined, hosts: ReadonlyArray<string>, now: number) =>
  Effect.tryPromise({
    try: async (): Promise<Pair> => {
      // Loaded only for an issue (the library needs the reflection polyfill first): most starts skip it.
      await import("reflect-metadata")
      const x509 = await import("@peculiar/x509")
      const keys = await webcrypto.subtle.generateKey(curve, true, ["sign", "verify"])
      const serialNumber = `4${randomBytes(15).toString("hex").slice(1)}` // the digit 4 keeps it positive and its length constant
      const name = authority === undefined ? `Brokerage local CA ${serialNumber.slice(0, 8)}` : "Brokerage server"
      const signer = authority === undefined ? undefined : new x509.X509Certificate(authority.certificate)
      const end = now + (signer === undefined ? authorityDays : leafDays) * dayMillis
      const certificate = await x509.X509CertificateGenerator.create({
        serialNumber,
        subject: `CN=${name}`,
        issuer: signer?.subject ?? `CN=${name}`,
        notBefore: new Date(now - dayMillis), // a day early, because clocks of machines differ
        notAfter: new Date(Math.min(end, signer?.notAfter.getTime() ?? end)),
        signingAlgorithm: curve,
        publicKey: keys.publicKey,
        signingKey: authority === undefined ? keys.privateKey : await importKey(authority.key),
        extensions:
          signer === undefined
            ? [
                new x509.BasicConstraintsExtension(true, 0, true),
                new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
                await x509.SubjectKeyIdentifierExtension.create(keys.publicKey)
              ]
            : [
                new x509.BasicConstraintsExtension(false, undefined, true),
                new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
                new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
                new x509.SubjectAlternativeNameExtension(
                  hosts.map((value) => ({ type: isIP(value) === 0 ? "dns" : "ip", value }))
                ),
                await x509.AuthorityKeyIdentifierExtension.create(signer),
                await x509.SubjectKeyIdentifierExtension.create(keys.publicKey)
              ]
      })
      const key = x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY")
      return { certificate: `${certificate.toString("pem")}\n`, key: `${key}\n` }
    },
    catch: (cause) => fail("A certificate can not be issued.", cause)
  })

const importKey = (pem: string) =>
  webcrypto.subtle.importKey("pkcs8", createPrivateKey(pem).export({ type: "pkcs8", format: "der" }), curve, false, [
    "sign"
  ])

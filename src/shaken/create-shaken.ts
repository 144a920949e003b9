// STIR/SHAKEN: the checks of an Identity header in the order of RFC 8224 §6.2, and the signing of a calling number.
import { createHash, verify } from 'node:crypto'
import type {
  IdentityFinding,
  IdentityQuestion,
  IdentityStatement,
  SignedIdentity,
} from '../contracts/number-trust.ts'
import { signedNumber } from '../lib/canonical-number.ts'
import { findingOf, NotProven } from './finding.ts'
import { readPassport, writePassport, type Passport } from './passport.ts'
import { ShakenFiles } from './shaken-files.ts'
import type { Shaken, ShakenOptions } from './shaken.ts'
import { SignerCertificates } from './signer-certificates.ts'

export function createShaken(options: ShakenOptions): Shaken {
  return new StirShaken(options)
}

// Suggested by RFC 8224 §6.2.2: enough for a call that waits at a carrier, too little to reuse its header.
const freshMs = 60_000
// One of each signer on the way; div and rcd come in addition to shaken.
const maxIdentities = 4

class StirShaken implements Shaken {
  readonly name = 'shaken'
  readonly #options: ShakenOptions
  readonly #files: ShakenFiles
  readonly #certificates: SignerCertificates

  constructor(options: ShakenOptions) {
    this.#options = options
    this.#files = new ShakenFiles(options)
    this.#certificates = new SignerCertificates(options)
  }

  start(): Promise<void> {
    return this.#files.start()
  }

  async stop(): Promise<void> {
    await this.#files.stop()
  }

  async verify(question: IdentityQuestion): Promise<IdentityFinding> {
    const identities = question.identities.slice(0, maxIdentities)
    // In parallel: the caller waits for the slowest server, and not for one after the other.
    const findings = await Promise.all(identities.map((value) => this.#verifyOne(value, question)))
    const isPassed = ({ verstat }: IdentityFinding): boolean => verstat === 'TN-Validation-Passed'
    const isDecided = ({ code }: IdentityFinding): boolean => code !== 'identity_unsupported'
    const [first] = [...findings.filter(isPassed), ...findings.filter(isDecided), ...findings]
    return first ?? findingOf(new NotProven('identity_malformed', 'there is no Identity header'))
  }

  sign({ calling, called, attest, account_sid }: IdentityStatement): SignedIdentity | undefined {
    const { certificateUrl, clock } = this.#options
    const { key } = this.#files.current
    const [orig, dest] = [signedNumber(calling), signedNumber(called)]
    if (key === undefined || certificateUrl === undefined || orig === undefined || dest === undefined)
      return undefined
    const iat = Math.floor(clock.now() / 1000)
    const passport = { attest, origid: originOf(account_sid), iat, orig, dest }
    return {
      identity: writePassport(passport, { key, certificateUrl }),
      date: new Date(iat * 1000).toUTCString(),
    }
  }

  async #verifyOne(value: string, question: IdentityQuestion): Promise<IdentityFinding> {
    try {
      const { authorities } = this.#files.current
      if (authorities === undefined)
        throw new NotProven(
          'no_trust_list',
          'there is no trust list: SWITCHHOOK_SHAKEN_AUTHORITIES is not set',
        )
      const passport = readPassport(value)
      this.#demandFresh(passport)
      demandNumbers(passport, question)
      const key = await this.#certificates.keyOf(passport.x5u, authorities)
      const { signed, signature, attest, origid } = passport
      if (!verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature))
        throw new NotProven('signature_wrong', 'the signature of the PASSporT is wrong')
      return { verstat: 'TN-Validation-Passed', attest, origid }
    } catch (error) {
      if (error instanceof NotProven) return findingOf(error)
      // A fault of the platform must not cost the caller the call.
      this.#options.log.error({ err: error }, 'an Identity header could not be verified')
      return findingOf(new NotProven('identity_unsupported', 'the Identity header could not be verified'))
    }
  }

  #demandFresh({ iat }: Passport): void {
    const ageMs = this.#options.clock.now() - iat * 1000
    if (Math.abs(ageMs) > freshMs)
      throw new NotProven('identity_stale', `the PASSporT was signed ${Math.round(ageMs / 1000)} seconds ago`)
  }
}

function demandNumbers({ orig, dest }: Passport, { calling, called }: IdentityQuestion): void {
  const other = (what: string): NotProven =>
    new NotProven('identity_of_other_numbers', `the PASSporT is for another ${what} number`)
  const caller = signedNumber(calling)
  if (caller === undefined || signedNumber(orig) !== caller) throw other('calling')
  const signed = dest.map(signedNumber)
  const isCalled = (number: string): boolean => {
    const canonical = signedNumber(number)
    return canonical !== undefined && signed.includes(canonical)
  }
  if (!called.some(isCalled)) throw other('called')
}

/** Returns the origin of all calls of an account, which we can recognize and others cannot (RFC 8588 §5). */
function originOf(account_sid: string): string {
  const hex = createHash('sha256').update(`shaken origin ${account_sid}`).digest('hex')
  // RFC 9562 §5.8: a UUID of a custom form.
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}

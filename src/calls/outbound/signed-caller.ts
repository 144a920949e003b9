// The calling number of an INVITE that is signed, and the attestation of the platform. Both are derived from the fields
// of the INVITE, because an application may put other numbers there than the one that the call was ordered with.
import { signedNumber } from '../../lib/canonical-number.ts'
import { splitList } from '../../sip/message/list.ts'
import type { Attestation } from '../../contracts/number-trust.ts'
import { numberIn } from '../parties/asked.ts'
import type { AccountFacts, Directory } from '../ports.ts'
import type { CallerOrder } from './caller-identity.ts'

export interface SignedCaller {
  readonly calling: string
  readonly attest: Attestation
}

const asserting = 'p-asserted-identity'
// These are not signed, but some networks on the way display them.
const alsoShown: ReadonlySet<string> = new Set([asserting, 'p-preferred-identity', 'remote-party-id'])

/** Returns attestation A if every number that the INVITE names as the caller's belongs to the account, otherwise B. */
export async function signedCaller(
  { from, fromUser = from, headers }: CallerOrder,
  { account_sid }: Pick<AccountFacts, 'account_sid'>,
  directory: Pick<Directory, 'numbersCalled'>,
): Promise<SignedCaller> {
  const valuesOf = (isOne: (name: string) => boolean): readonly string[] =>
    headers.flatMap(({ name, value }) => (isOne(name) ? splitList(value) : []))
  // A verifier prefers P-Asserted-Identity to From (RFC 8224 §8.1, ATIS-1000074), and reads the number alone.
  const asserted = valuesOf((name) => name === asserting).map(numberIn)
  const calling = asserted.find((number) => signedNumber(number) !== undefined) ?? fromUser
  const shown = valuesOf((name) => alsoShown.has(name)).map(numberIn)
  const isOwn = async (number: string): Promise<boolean> => {
    const canonical = signedNumber(number)
    const rows = canonical === undefined ? [] : await directory.numbersCalled(canonical)
    return rows.some((row) => row.account_sid === account_sid)
  }
  const named = new Set([calling, ...[fromUser, ...shown].filter(mayBeNumber)])
  const isEach = await Promise.all([...named].map(isOwn))
  return { calling, attest: isEach.every(Boolean) ? 'A' : 'B' }
}

/** Returns whether it may be a number: not `anonymous` or `alice`. Another reader may read what is unreadable here. */
function mayBeNumber(user: string): boolean {
  return user === '' || /\d/.test(user.normalize('NFKC'))
}

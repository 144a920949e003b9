// Password hashes: argon2id of RFC 9106, in the PHC string form. The work runs on a thread that the caller chooses.
import { argon2, randomBytes, timingSafeEqual, type Argon2Parameters } from 'node:crypto'

interface Cost {
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

// 19 MiB and two passes: the lower of the two settings that OWASP names. It takes tens of milliseconds on one core.
const cost: Cost = { memory: 19_456, passes: 2, parallelism: 1 }
const saltBytes = 16
const tagBytes = 32

// Limits for the work that a stored hash may demand, in case one was written into the database by hand.
const maxMemory = 1_048_576
const maxPasses = 16

const phc =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/

/** The inputs of a tag, in a form that can be passed to another thread. */
export type DeriveJob = Argon2Parameters

/** Derives an argon2id tag. */
export type Derive = (job: DeriveJob) => Promise<Buffer>

/** Derives in a thread of the pool, for callers that hash a password only once. */
export const deriveInPool: Derive = (job) =>
  new Promise((resolve, reject) => {
    argon2('argon2id', job, (error, key) => (error === null ? resolve(key) : reject(error)))
  })

/** Hashes a password into one self-describing line. */
export async function hashPassword(password: string, derive = deriveInPool): Promise<string> {
  const nonce = randomBytes(saltBytes)
  const tag = await derive({ message: bytesOf(password), nonce, ...cost, tagLength: tagBytes })
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(nonce)}$${base64(tag)}`
}

/** Returns false also for a line that is not an argon2id hash in the form that this file writes. */
export async function verifyPassword(
  password: string,
  hash: string,
  derive = deriveInPool,
): Promise<boolean> {
  const match = phc.exec(hash)
  if (match === null) return verifyAgainstNothing(password, derive)
  const [, memory, passes, parallelism, salt = '', tag = ''] = match
  const asked = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  if (asked.memory > maxMemory || asked.passes > maxPasses) return verifyAgainstNothing(password, derive)
  const expected = Buffer.from(tag, 'base64')
  const nonce = Buffer.from(salt, 'base64')
  const actual = await derive({ message: bytesOf(password), nonce, ...asked, tagLength: expected.length })
  return timingSafeEqual(actual, expected)
}

/** Costs as much as a verification and returns false, so that the time does not reveal that a user is unknown. */
export async function verifyAgainstNothing(password: string, derive = deriveInPool): Promise<false> {
  const nonce = Buffer.alloc(saltBytes)
  await derive({ message: bytesOf(password), nonce, ...cost, tagLength: tagBytes })
  return false
}

/** Returns true for a hash made at another cost: a new one should be made at the next successful login. */
export function needsRehash(hash: string): boolean {
  return !hash.startsWith(`$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$`)
}

function bytesOf(password: string): Buffer {
  return Buffer.from(password.normalize('NFC'), 'utf8')
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}

// Secrets at rest: AES-256-GCM with a fresh nonce each time, bound to the table, row and column of the secret.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto'
import { link, mkdir, open as openFile, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { randomHex } from '../lib/ids.ts'
import { StartError } from '../lib/start-error.ts'

/** The place of a secret. A secret that was moved elsewhere cannot be decrypted. */
export interface Place {
  readonly table: string
  readonly row: string
  readonly column: string
}

export interface Vault {
  seal(text: string, place: Place): string
  /** Throws when the record was made with another key or for another place, or was changed. */
  unseal(record: string, place: Place): string
  /** Returns a MAC that proves that a text was written with the key. Each purpose has its own key, derived from it. */
  mac(purpose: string, text: string): string
}

const nonceBytes = 12
const tagBytes = 16

// Opening a record costs more than reading its row, so recently opened texts are kept. The key is in memory as well.
const maxRemembered = 5000
const maxRememberedLength = 1000

export function createVault(key: Buffer): Vault {
  const remembered = new Map<string, string>()
  const macKeys = new Map<string, KeyObject>()
  const secretKey = createSecretKey(key)
  // Identifies the key that a record was made with.
  const keyId = createHash('sha256').update('switchhook key id').update(key).digest('hex').slice(0, 8)
  return {
    seal(text, place) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', secretKey, nonce, { authTagLength: tagBytes })
      cipher.setAAD(associated(place))
      const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `v1.${keyId}.${sealed.toString('base64url')}`
    },
    unseal(record, place) {
      const name = `${place.table} ${place.row} ${place.column} ${record}`
      const known = remembered.get(name)
      if (known !== undefined) return known
      const text = open(record, place)
      if (remembered.size >= maxRemembered) remembered.clear()
      if (record.length <= maxRememberedLength) remembered.set(name, text)
      return text
    },
    mac: (purpose, text) => createHmac('sha256', macKey(purpose)).update(text).digest('hex'),
  }

  function macKey(purpose: string): KeyObject {
    const known = macKeys.get(purpose)
    if (known !== undefined) return known
    // The name of the purpose is the info of RFC 5869, so that no two purposes share a key.
    const made = createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `switchhook ${purpose}`, 32)))
    macKeys.set(purpose, made)
    return made
  }

  function open(record: string, place: Place): string {
    const [version, madeWith, body = ''] = record.split('.', 3)
    if (version !== 'v1' || madeWith !== keyId)
      throw new Error(`secret of ${place.table}.${place.column} was not made with key ${keyId}`)
    const sealed = Buffer.from(body, 'base64url')
    const end = sealed.length - tagBytes
    const decipher = createDecipheriv('aes-256-gcm', secretKey, sealed.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    })
    decipher.setAAD(associated(place))
    decipher.setAuthTag(sealed.subarray(end))
    return decipher.update(sealed.subarray(nonceBytes, end)).toString('utf8') + decipher.final('utf8')
  }
}

/** A vault that is created before its key is known, and used after that. */
export interface LateVault extends Vault {
  open(key: Buffer): void
}

export function createLateVault(): LateVault {
  let opened: Vault | undefined
  const vault = (): Vault => {
    if (opened === undefined) throw new Error('storage is not running')
    return opened
  }
  return {
    open(key) {
      opened = createVault(key)
    },
    seal: (text, place) => vault().seal(text, place),
    unseal: (record, place) => vault().unseal(record, place),
    mac: (purpose, text) => vault().mac(purpose, text),
  }
}

/** Returns the place as associated data. Each part follows its length, so that no two places give the same bytes. */
function associated({ table, row, column }: Place): Buffer {
  return Buffer.from([table, row, column].map((part) => `${part.length}:${part}`).join(','))
}

/** Returns the key from the settings, or the key in the key file, which is made when it is missing. */
export async function loadKey(dataDir: string, configured: string | undefined): Promise<Buffer> {
  if (configured !== undefined) return Buffer.from(configured, 'hex')
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'secret.key')
  await makeKeyFile(path)
  return Buffer.from(await readKey(path), 'hex')
}

/** Returns the key in hex. */
export async function readKey(path: string): Promise<string> {
  const text = (await readFile(path, 'utf8')).trim()
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new StartError(
      `The key file ${path} is damaged: it must hold 64 hex digits. Restore it from a backup.`,
    )
  return text
}

/** Makes the key file by a hard link, which appears whole or not at all and never replaces another process's key. */
async function makeKeyFile(path: string): Promise<void> {
  if (await exists(path)) return
  const draft = `${path}.${randomHex(8)}`
  const file = await openFile(draft, 'wx', 0o600)
  try {
    await file.writeFile(`${randomBytes(32).toString('hex')}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    await link(draft, path)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    await unlink(draft)
  }
}

async function exists(path: string): Promise<boolean> {
  return readFile(path).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
      throw error
    },
  )
}

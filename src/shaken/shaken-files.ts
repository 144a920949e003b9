// The trust list and the key that signs calls, read from files, and read again when those change.
import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import { repeat, type Repetition } from '../lib/repeat.ts'
import { StartError } from '../lib/start-error.ts'
import { WatchedFiles } from '../lib/watched-files.ts'
import { parseAuthorities } from './signer-certificates.ts'

export interface ShakenFilesOptions {
  readonly authoritiesFile: string | undefined
  readonly keyFile: string | undefined
  readonly clock: Clock
  readonly log: Logger
}

interface Contents {
  readonly authorities: readonly X509Certificate[] | undefined
  readonly key: KeyObject | undefined
}

const lookMs = 10_000

export class ShakenFiles {
  readonly #options: ShakenFilesOptions
  readonly #files: WatchedFiles<Contents>
  #looks: Repetition | undefined

  constructor(options: ShakenFilesOptions) {
    this.#options = options
    this.#files = new WatchedFiles([options.authoritiesFile, options.keyFile], () => readContents(options))
  }

  /** The current content; known after start. */
  get current(): Contents {
    return this.#files.value
  }

  /** Rejects with StartError. */
  async start(): Promise<void> {
    try {
      await this.#files.look()
    } catch (error) {
      throw new StartError(
        `Calls cannot be signed or verified, since ${sentenceOf(error)}: correct ${settingsOf(this.#options)}.`,
        { cause: error },
      )
    }
    const { authoritiesFile, keyFile, clock, log } = this.#options
    if (authoritiesFile === undefined && keyFile === undefined) return
    this.#looks = repeat({
      clock,
      everyMs: lookMs,
      work: () => this.#look(),
      failed: (error) => log.error({ err: error }, 'the files of STIR/SHAKEN could not be checked'),
    })
  }

  async stop(): Promise<void> {
    await this.#looks?.stop()
  }

  /** Checks the files. Bad files leave the former content in force. */
  async #look(): Promise<void> {
    const { log } = this.#options
    try {
      if (await this.#files.look()) log.info('the files of STIR/SHAKEN are read again')
    } catch (error) {
      log.error({ reason: sentenceOf(error) }, 'the files of STIR/SHAKEN are not replaced')
    }
  }
}

async function readContents({ authoritiesFile, keyFile }: ShakenFilesOptions): Promise<Contents> {
  return {
    authorities: authoritiesFile === undefined ? undefined : await readAuthorities(authoritiesFile),
    key: keyFile === undefined ? undefined : await readKey(keyFile),
  }
}

function settingsOf({ authoritiesFile, keyFile }: ShakenFilesOptions): string {
  const both = [
    authoritiesFile === undefined ? undefined : 'SWITCHHOOK_SHAKEN_AUTHORITIES',
    keyFile === undefined ? undefined : 'SWITCHHOOK_SHAKEN_KEY',
  ]
  return both.filter((setting) => setting !== undefined).join(' or ')
}

async function readAuthorities(path: string): Promise<readonly X509Certificate[]> {
  const text = await read(path)
  let found: readonly X509Certificate[] = []
  try {
    found = parseAuthorities(text)
  } catch (error) {
    throw new Error(`${path} holds a certificate that cannot be read`, { cause: error })
  }
  if (found.length === 0) throw new Error(`${path} holds no certificate in PEM`)
  return found
}

async function readKey(path: string): Promise<KeyObject> {
  const text = await read(path)
  let key: KeyObject | undefined
  try {
    key = createPrivateKey(text)
  } catch (error) {
    throw new Error(`${path} holds no private key in PEM without a password`, { cause: error })
  }
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new Error(`${path} holds no key of the curve P-256, which ES256 needs`)
  return key
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new Error(`${path} cannot be read`, { cause: error })
  }
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

// The softphone of the examples in Chromium or Firefox, over WSS: a test presses its keys, reads its page and hears its audio.
import { createHash, X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveSoftphone } from '../../examples/browser/serve-softphone.ts'
import { startChromium, type Browser } from '../docs/chromium.ts'
import { tone, toneSegments, toWav } from './audio.ts'
import { startFirefox } from './firefox.ts'
import type { SharedPlatform, Tenant } from './platform-process.ts'
import { until } from './wait.ts'

const size = { width: 600, height: 800 }

const sampleRate = 8000

/** The script that returns what the page hears meanwhile. It plays nothing: Firefox does so only with a sound card. */
const listen = `(async () => {
  const { stream } = window.phone
  if (!stream?.active) return []
  const recorder = new MediaRecorder(stream)
  const parts = []
  recorder.ondataavailable = ({ data }) => parts.push(data)
  const stopped = new Promise((resolve) => (recorder.onstop = resolve))
  recorder.start()
  await new Promise((resolve) => setTimeout(resolve, 500))
  recorder.stop()
  await stopped
  const context = new OfflineAudioContext(1, 1, ${sampleRate})
  const bytes = await new Blob(parts).arrayBuffer()
  // A stream that has just begun or ended may have left nothing.
  const decoded = await context.decodeAudioData(bytes).catch(() => undefined)
  return Array.from(decoded?.getChannelData(0) ?? [])
})()`

export interface SoftphoneInBrowser {
  /** Runs a script in the page, and returns the value that a promise resolves with. */
  evaluate<T>(expression: string): Promise<T>
  /** Resolves when the page shows this. */
  says(wanted: RegExp): Promise<string>
  press(id: string): Promise<void>
  call(number: string): Promise<void>
  /** Resolves when the page hears this frequency, or any sound if none is given. */
  hears(hz?: number): Promise<void>
  /** Resolves when the peer connection, which carries keys and audio, is connected. */
  connected(): Promise<void>
  /** Opens another page, or its own again. */
  open(url?: string): Promise<void>
  /** Kills the browser, which closes nothing first. */
  kill(): Promise<void>
  close(): Promise<void>
}

type Stage = Pick<SharedPlatform, 'httpsPort' | 'dataDir'>
type PhoneBrowser = Omit<Browser, 'screenshot'>

export interface SoftphoneOptions {
  readonly platform: Stage
  readonly tenant: Tenant
  /** The tone at its microphone. */
  readonly saysHz: number
  /** Firefox needs the `address` of this machine in a network, because it gathers no candidate of the loopback. */
  readonly firefox?: { readonly address: string }
}

/** Resolves when the softphone is registered. */
export async function openSoftphone({
  platform,
  tenant,
  saysHz,
  firefox,
}: SoftphoneOptions): Promise<SoftphoneInBrowser> {
  const folder = await mkdtemp(join(tmpdir(), 'microphone-'))
  const microphone = join(folder, 'tone.wav')
  await writeFile(microphone, toWav(tone(saysHz, 2000, { sampleRate: 48_000 })))
  const { realm, username, password } = tenant
  const server = `wss://${firefox?.address ?? '127.0.0.1'}:${platform.httpsPort}`
  const page = await serveSoftphone({ server, realm, username, password, number: 'bob' })
  const browser = await (firefox === undefined ? chromiumWith(microphone, platform) : startFirefox(saysHz))
  const evaluate = <T>(expression: string): Promise<T> => browser.evaluate<T>(expression)
  const phone: SoftphoneInBrowser = {
    evaluate,
    says: (wanted) =>
      until(`the page to say ${wanted.source}`, async () => {
        const text = await evaluate<string>("document.querySelector('#state').textContent")
        return wanted.test(text) ? text : undefined
      }),
    press: (id) => evaluate(`document.getElementById('${id}').click()`),
    async call(number) {
      await evaluate(`document.getElementById('number').value = ${JSON.stringify(number)}`)
      await phone.press('call')
    },
    async hears(hz) {
      await until(`the page to hear ${hz ?? 'something'}`, async () => {
        const samples = Float64Array.from(await evaluate<number[]>(listen))
        if (hz === undefined) return samples.some((sample) => Math.abs(sample) > 0.001)
        return toneSegments({ sampleRate, samples }, hz).some(({ startMs, endMs }) => endMs - startMs > 100)
      })
    },
    async connected() {
      await until('the path', () =>
        evaluate<boolean>("window.phone.session.connection.connectionState === 'connected'"),
      )
    },
    open: (url = page.url) => browser.open(url, size),
    kill: () => browser.kill(),
    async close() {
      await Promise.all([browser.close(), page.close()])
      await rm(folder, { recursive: true, force: true })
    },
  }
  try {
    await phone.open()
    await phone.says(/^ready$/)
  } catch (error) {
    await phone.close()
    throw new Error(`the softphone is not ready: ${browser.problems.join('\n')}`, { cause: error })
  }
  return phone
}

async function chromiumWith(microphone: string, { dataDir }: Stage): Promise<PhoneBrowser> {
  return startChromium([
    '--use-fake-ui-for-media-stream',
    '--use-fake-device-for-media-stream',
    `--use-file-for-fake-audio-capture=${microphone}`,
    '--autoplay-policy=no-user-gesture-required',
    // No authority has signed the development certificate: the browser trusts this one and no other.
    `--ignore-certificate-errors-spki-list=${await publicKeyOf(dataDir)}`,
  ])
}

async function publicKeyOf(dataDir: string): Promise<string> {
  const pem = await readFile(join(dataDir, 'certificates', 'own.pem'), 'utf8')
  const certificate = new X509Certificate(pem.slice(pem.indexOf('-----BEGIN CERTIFICATE')))
  const key = certificate.publicKey.export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(key).digest('base64')
}

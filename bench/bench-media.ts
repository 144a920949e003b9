// Media for a measurement: one worker on loopback, what phones offer it, and what it takes of a processor.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '../src/lib/log.ts'
import { createMedia } from '../src/media/create-media.ts'
import type { Media, MediaOptions } from '../src/media/media.ts'
import { toInline } from '../src/media/sdp/crypto-lines.ts'
import type { MasterKey } from '../src/media/srtp/suites.ts'
import { threadsMs } from './proc.ts'

export interface BenchMedia {
  /** Not started yet. */
  readonly media: Media
  /** For what a measurement writes; it goes with the media. */
  readonly directory: string
  close(): Promise<void>
}

/** `ports`: how many from the first on; a session takes two. */
export async function createBenchMedia(
  firstPort: number,
  ports: number,
  options: Partial<Pick<MediaOptions, 'createProcess'>> = {},
): Promise<BenchMedia> {
  const directory = await mkdtemp(join(tmpdir(), 'media-bench-'))
  const media = createMedia({
    bind: '127.0.0.1',
    publicAddress: undefined,
    ports: { first: firstPort, last: firstPort + ports - 1 },
    workers: 1,
    limits: { mediaMs: 0, heldMs: 0 },
    scratchDir: join(directory, 'scratch'),
    log: silentLogger,
    ...options,
  })
  return {
    media,
    directory,
    async close() {
      await media.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** `keys`: of what the phone will send; plain RTP when left out. */
export function offerOf(port: number, payloadType: number, keys?: MasterKey): string {
  const media = `m=audio ${port} RTP/${keys === undefined ? 'AVP' : 'SAVP'} ${payloadType} 101\r\na=rtpmap:101 telephone-event/8000\r\n`
  const crypto = keys === undefined ? '' : `a=crypto:1 ${keys.suite} ${toInline(keys, false)}\r\n`
  return `v=0\r\no=bench 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n${media}${crypto}`
}

/** By the kernel: how long the media worker ran, and how long it was ready to run and had no processor. */
export function workerMs(): { cpu: number; waited: number } {
  // From phone to phone there is none.
  return threadsMs('self', 'media-')
}

// The parts that play and record sound: speech, audio files, RTP, recordings.
import { join } from 'node:path'
import { createBuckets } from '../buckets/create-buckets.ts'
import { createSpeechDirectory } from '../directory/speech-credentials.ts'
import { createMedia } from '../media/create-media.ts'
import { createAudioDecoder } from '../media/files/audio-decoder.ts'
import { createSpeech } from '../speech/create-speech.ts'
import { createRecognition } from '../speech/create-recognition.ts'
import { createStreams } from '../streams/create-streams.ts'
import { createAudioFetcher } from '../audio/create-audio-fetcher.ts'
import type { Base } from './base.ts'
import { createStoredRecordings } from './recordings.ts'

export type Sound = ReturnType<typeof createSound>

/** Creates the parts that play and record sound. */
export function createSound(base: Base) {
  const { config, log, clock, cacheDir, sharePercent, storage, outgoing, allow } = base
  const credentials = createSpeechDirectory({ storage, clock, log })
  const streams = createStreams({ allow, nameServers: config.nameServers, sharePercent, log })
  const speech = createSpeech({
    cacheDir: join(cacheDir, 'speech'),
    outgoing,
    credentials,
    recognisers: streams,
    sharePercent,
    clock,
    log,
  })
  const decoder = createAudioDecoder({ clock, sharePercent })
  const audio = createAudioFetcher({
    outgoing,
    cacheDir: join(cacheDir, 'audio'),
    decode: (job, options) => decoder.decode(job, options),
    sharePercent,
    log,
  })
  const media = createMedia({
    bind: config.bind,
    publicAddress: config.publicAddress,
    ports: config.rtpPorts,
    browserPort: config.browserPort,
    browserUser: config.browserUser,
    workers: config.mediaWorkers,
    limits: { mediaMs: config.mediaTimeoutSeconds * 1000, heldMs: config.holdTimeoutSeconds * 1000 },
    scratchDir: join(cacheDir, 'media'),
    log,
  })
  const recognition = createRecognition({ recognisers: streams, credentials })
  return { speech, decoder, audio, media, streams, recognition, ...createKeeping(base) }
}

/** Creates the store of recordings. */
function createKeeping({ config, log, clock, storage, outgoing, sharePercent }: Base) {
  const buckets = createBuckets({ outgoing, clock, log })
  const megabyte = 1_000_000
  const recordings = createStoredRecordings({
    dataDir: config.dataDir,
    storage,
    buckets,
    limits: {
      spoolBytes: config.recordingSpoolMb * megabyte,
      accountBytes: config.recordingAccountMb * megabyte,
      days: config.recordingDays,
    },
    sharePercent,
    clock,
    log,
  })
  return { buckets, recordings }
}

// The cost of the codecs: each alone, for one packet of 20 ms; and whole Opus calls on a media worker, plain and with
// SRTP.
//   node bench/codecs.ts --seconds 10
//   node bench/codecs.ts --calls 12      beside other work, where a worker with 40 calls skips packets
import { createSocket } from 'node:dgram'
import { randomBytes } from 'node:crypto'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { codecs, type Encoding, type Rate } from '../src/media/codecs/codecs.ts'
import { createCoders, frameSamplesAt } from '../src/media/codecs/coders.ts'
import { createLaws } from '../src/media/codecs/g711.ts'
import { Doubler, Halver } from '../src/media/codecs/half-band.ts'
import { writeRtpHeader } from '../src/media/rtp/packet.ts'
import { SrtpSender } from '../src/media/srtp/srtp.ts'
import { ToneDetector } from '../src/media/keys/tone-detector.ts'
import { createBenchMedia, workerMs } from './bench-media.ts'
import { toTable, type Figure } from './figure.ts'

const frames = 1000
const rounds = 5
// The share of one processor; the rest is reserved for uneven load.
const share = 0.6
const targetCalls = 70
const warmUp = 500
const firstPort = 27_000

/** Returns something like a voice: a pitch that glides, with its harmonics, in syllables. */
function voiceAt(rate: Rate): Int16Array {
  let phase = 0
  return Int16Array.from({ length: frames * frameSamplesAt(rate) }, (_, at) => {
    const seconds = at / rate
    phase += (2 * Math.PI * (140 + 30 * Math.sin(4 * seconds))) / rate
    const harmonics = [1, 2, 3, 4, 5, 8, 12].reduce((sum, n) => sum + Math.sin(n * phase) / n, 0)
    return Math.round(5000 * (0.6 + 0.4 * Math.sin(2 * Math.PI * 3 * seconds)) * harmonics)
  })
}

/** Returns the lowest cost of several rounds, in us for one frame: other work on the machine can only add to it. */
function costOf(run: (frame: number) => void): number {
  let least = Infinity
  for (let round = 0; round <= rounds; round += 1) {
    const before = process.threadCpuUsage()
    for (let frame = 0; frame < frames; frame += 1) run(frame)
    const { user, system } = process.threadCpuUsage(before)
    if (round > 0) least = Math.min(least, (user + system) / frames)
  }
  return least
}

const us = (value: number): string => `${value.toFixed(1)} us`

async function measureCoders(): Promise<{ figures: Figure[]; opus: Buffer[] }> {
  const coders = createCoders(createLaws())
  await coders.prepare(codecs.map(({ encoding }) => encoding))
  const figures: Figure[] = []
  const packetsOf = new Map<Encoding, Buffer[]>()
  for (const { encoding, rate } of codecs) {
    const [encoder, decoder, narrow] = [
      coders.encoder(encoding),
      coders.decoder(encoding),
      coders.decoder(encoding, 8000),
    ]
    await setImmediate()
    const samples = frameSamplesAt(rate)
    const voice = voiceAt(rate)
    const into = new Uint8Array(encoder.maxOctets)
    const heard = new Int16Array(samples)
    const frameAt = (frame: number): Int16Array => voice.subarray(frame * samples, (frame + 1) * samples)
    const packets = Array.from({ length: frames }, (_, frame) =>
      Buffer.from(into.slice(0, encoder.encode(frameAt(frame), into, 0))),
    )
    packetsOf.set(encoding, packets)
    const empty = Buffer.alloc(0)
    const encode = costOf((frame) => encoder.encode(frameAt(frame), into, 0))
    const decode = costOf((frame) => decoder.decode(packets[frame] ?? empty, heard, 0))
    const decodeNarrow = costOf((frame) => narrow.decode(packets[frame] ?? empty, heard, 0))
    const octets = packets.reduce((sum, { length }) => sum + length, 0) / frames
    const ears = rate === 8000 ? '' : ` (for taps, at 8 kHz, ${us(decodeNarrow)})`
    figures.push({
      what: `${encoding}, ${rate / 1000} kHz: coding, decoding`,
      target: '-',
      figure: `${us(encode)}, ${us(decode)}${ears}; ${octets.toFixed(0)} octets`,
    })
    if (encoder.expectLoss !== undefined) {
      encoder.expectLoss(5)
      // This is the setting of browsers and phones, which can afford more computation.
      const spoken = Array.from({ length: frames }, (_, frame) =>
        Buffer.from(into.slice(0, encoder.encode(frameAt(frame), into, 0))),
      )
      packetsOf.set(encoding, spoken)
      const lossy = `${us(costOf((frame) => encoder.encode(frameAt(frame), into, 0)))}, ${us(costOf((frame) => decoder.decode(spoken[frame] ?? empty, heard, 0)))}`
      figures.push({
        what: `${encoding}: the same for a far end that loses packets`,
        target: '-',
        figure: lossy,
      })
    }
    if (decoder.conceal !== undefined) {
      const conceal = (next: Buffer | undefined): unknown => decoder.conceal?.(heard, 0, samples, next)
      const madeUp = costOf(() => conceal(undefined))
      const madeGood = costOf((frame) => conceal(packetsOf.get(encoding)?.[frame]))
      const figure = `${us(madeUp)}; from the next packet ${us(madeGood)}`
      figures.push({ what: `${encoding}: a lost packet made up`, target: '-', figure })
    }
    for (const one of [encoder, decoder, narrow]) one.close()
  }
  const [narrow, wide] = [new Int16Array(160), new Int16Array(320)]
  const [doubler, halver, detector] = [new Doubler(160), new Halver(160), new ToneDetector()]
  const figure = `${us(costOf(() => doubler.convert(narrow, wide)))}, ${us(costOf(() => halver.convert(wide, narrow)))}`
  figures.push({ what: 'a frame from 8 to 16 kHz, and back', target: '-', figure })
  const voice = voiceAt(8000)
  const listening = costOf((frame) => detector.hear(voice.subarray(frame * 160, (frame + 1) * 160)))
  figures.push({ what: 'a frame listened to for keys', target: '-', figure: us(listening) })
  return { figures, opus: packetsOf.get('OPUS') ?? [] }
}

/** Measures calls that are decoded and encoded again on the tick: each hears itself, a little quieter. */
async function measureCalls(
  opus: readonly Buffer[],
  isProtected: boolean,
  { seconds, calls }: { readonly seconds: number; readonly calls: number },
): Promise<Figure> {
  // Other programs on the machine may hold some of the ports.
  const bench = await createBenchMedia(firstPort, 8 * calls)
  const { media } = bench
  const socket = createSocket('udp4')
  let heard = 0
  socket.on('message', () => (heard += 1))
  try {
    await media.start()
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    const { port } = socket.address()
    const keys = randomBytes(30)
    const lines = [
      ...['v=0', 'o=bench 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'],
      `m=audio ${port} RTP/${isProtected ? 'SAVP' : 'AVP'} 96 101`,
      ...['a=rtpmap:96 opus/48000/2', 'a=fmtp:96 useinbandfec=1', 'a=rtcp-mux'],
      // All Opus phones have this line. Without it their audio would be searched for key tones by a separate decoder.
      'a=rtpmap:101 telephone-event/48000',
      ...(isProtected ? [`a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${keys.toString('base64')}`] : []),
    ]
    const senders: ((packet: number) => void)[] = []
    for (let call = 0; call < calls; call += 1) {
      const session = await media.open()
      await session.answer(`${lines.join('\r\n')}\r\n`)
      const { id } = session
      await session.wire({ hears: [{ id: 'self', from: { kind: 'session', id }, gainDb: -1 }] })
      senders.push(senderTo(session.port, call, opus, socket, isProtected ? keys : undefined))
    }
    const started = performance.now()
    const run = async (from: number, count: number): Promise<void> => {
      for (let packet = from; packet < from + count; packet += 1) {
        for (const send of senders) send(packet)
        await setTimeout(Math.max(0, started + (packet + 1) * 20 - performance.now()))
      }
    }
    // The code of a platform that has been up for a while is compiled.
    await run(0, warmUp)
    const before = workerMs()
    const heardBefore = heard
    const at = performance.now()
    await run(warmUp, seconds * 50)
    const elapsed = (performance.now() - at) / 1000
    const after = workerMs()
    // Divided by the packets that came out: a machine that is too busy skips ticks, which cost little.
    const perFrame = (1000 * (after.cpu - before.cpu)) / (heard - heardBefore)
    const perCore = Math.floor((share * 20_000) / perFrame)
    const sent = (heard - heardBefore) / (elapsed * 50 * calls)
    const waitedMs = (after.waited - before.waited) / elapsed
    return {
      what: `Opus at 16 kHz, decoded and coded again, ${isProtected ? 'with SRTP' : 'plain'}: calls on 60 % of a core`,
      target: isProtected ? `at least ${targetCalls}` : '-',
      figure: `${perCore}: ${us(perFrame)} for a packet in and one out (${calls} calls; ${(sent * 100).toFixed(0)} % of their packets came out, the worker waited ${waitedMs.toFixed(0)} ms in every second)`,
      ...(isProtected && sent > 0.95 ? { isMet: perCore >= targetCalls } : {}),
    }
  } finally {
    socket.close()
    await bench.close()
  }
}

function senderTo(
  port: number,
  call: number,
  opus: readonly Buffer[],
  socket: ReturnType<typeof createSocket>,
  keys: Buffer | undefined,
): (packet: number) => void {
  const sender = keys && new SrtpSender({ suite: 'AES_CM_128_HMAC_SHA1_80', key: keys })
  const protectedPacket = Buffer.alloc(1500)
  return (packet) => {
    const payload = opus[(packet + 37 * call) % opus.length] ?? Buffer.alloc(0)
    const plain = Buffer.concat([Buffer.alloc(12), payload])
    const header = { marker: packet === 0, payloadType: 96, ssrc: 1000 + call }
    writeRtpHeader(plain, { ...header, sequence: packet & 0xffff, timestamp: packet * 960 })
    if (sender === undefined) return socket.send(plain, port, '127.0.0.1')
    const bytes = sender.protect(plain, plain.length, protectedPacket)
    socket.send(Buffer.from(protectedPacket.subarray(0, bytes)), port, '127.0.0.1')
  }
}

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, calls: { type: 'string', default: '40' } },
})
const load = { seconds: Number(values.seconds), calls: Number(values.calls) }
const { figures, opus } = await measureCoders()
for (const isProtected of [false, true]) figures.push(await measureCalls(opus, isProtected, load))
console.log(toTable(figures))

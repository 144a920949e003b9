// The far ends of `npm run bench -- webrtc`, in a separate process: each sends PCMU and counts the packets it receives.
import library from 'node-datachannel'

const frameMs = 20
const [count = 1] = process.argv.slice(2).map(Number)
const packet = Buffer.alloc(172, 0xff)
packet[0] = 0x80
packet[1] = 0
let sequence = 0
let heard = 0
let connected = 0

const ends = Array.from({ length: count }, (_, index) => {
  const connection = new library.PeerConnection(`end ${index}`, {
    iceServers: [],
    bindAddress: '127.0.0.1',
    disableAutoNegotiation: true,
  })
  const audio = new library.Audio('0', 'SendRecv')
  audio.addAudioCodec(0, 'PCMU')
  const track = connection.addTrack(audio)
  const end = { connection, track, isOpen: false }
  track.onOpen(() => {
    end.isOpen = true
    connected += 1
  })
  track.onMessage(() => (heard += 1))
  connection.onGatheringStateChange((state) => {
    if (state === 'complete') process.send?.({ index, offer: connection.localDescription()?.sdp })
  })
  connection.setLocalDescription('offer')
  return end
})

const startedAt = performance.now()
setInterval(() => {
  while (sequence * frameMs < performance.now() - startedAt) {
    sequence += 1
    packet.writeUInt16BE(sequence & 0xffff, 2)
    packet.writeUInt32BE((sequence * 160) >>> 0, 4)
    for (const { track, isOpen } of ends) if (isOpen) track.sendMessageBinary(packet)
  }
}, frameMs)

process.on('message', (message: { index: number; answer: string } | 'count') => {
  if (message === 'count') process.send?.({ heard, connected })
  else ends[message.index]?.connection.setRemoteDescription(message.answer, 'answer')
})
process.on('disconnect', () => process.exit(0))

// The paths of browsers by node-datachannel (libdatachannel, libjuice, OpenSSL): the one file that uses this library.
// It aborts its whole process if a callback throws, if its UDP port is taken, or if two threads use it
// (docs/decisions/0083). So only the process of browsers loads it, none of its callbacks throws, and the port is held
// from the start.
import library, { type PeerConnection, type Track } from 'node-datachannel'
import { IceStandIn, type OwnPort } from './ice-stand-in.ts'
import type { FarSide, OwnSide, PathLoss } from './messages.ts'
import type { Peer, PeerEvents, Peers } from './peers.ts'
import { toDescription } from './description.ts'
import { tryUdpPort } from './udp-port.ts'

export interface PeersOptions {
  readonly bind: string
  readonly port: number
}

/** Rejects if the port is not available. `port` is 0 for any. */
export async function createDataChannelPeers({ bind, ...options }: PeersOptions): Promise<Peers> {
  // The library cannot find its connections behind a port that the system chose.
  const port = await tryUdpPort(bind, options.port)
  // The library's log names addresses and fingerprints of far ends; what matters is reported.
  library.initLogger('Fatal', () => undefined)
  // Undefined binds both IP versions, like our other sockets on `::`.
  const address = bind === '::' ? undefined : bind
  const listener = new library.IceUdpMuxListener(port, address)
  // STUN requests of strangers belong to none of our paths. No response is sent.
  listener.onUnhandledStunRequest(() => undefined)
  const config = {
    iceServers: [],
    ...(address === undefined ? {} : { bindAddress: address }),
    enableIceUdpMux: true,
    portRangeBegin: port,
    portRangeEnd: port,
    disableAutoNegotiation: true,
  }
  // The stand-in for a far end without ICE is on this machine.
  const own = { address: bind === '::' || bind === '0.0.0.0' ? '127.0.0.1' : bind, port }
  let last = 0
  return {
    port,
    open: (far, events) => {
      last += 1
      return new DataChannelPeer(new library.PeerConnection(`peer ${last}`, config), { far, events, at: own })
    },
    close: () => listener.stop(),
  }
}

interface DataChannelPeerOptions {
  readonly far: FarSide | undefined
  readonly events: PeerEvents
  readonly at: OwnPort
}

class DataChannelPeer implements Peer {
  readonly own: OwnSide
  readonly #connection: PeerConnection
  readonly #events: PeerEvents
  readonly #at: OwnPort
  #standIn: IceStandIn | undefined
  #track: Track | undefined
  #expected: string | undefined
  #isOpen = false
  #hasPath = false
  #isHandshakeOver = false
  #wasConnected = false
  #isClosed = false

  constructor(connection: PeerConnection, { far, events, at }: DataChannelPeerOptions) {
    this.#connection = connection
    this.#events = events
    this.#at = at
    connection.onStateChange((state) => this.#safely(() => this.#onState(state)))
    connection.onIceStateChange((state) => {
      if (state !== 'connected' && state !== 'completed') return
      this.#hasPath = true
      this.#safely(() => this.#standIn?.connected())
    })
    connection.onTrack((track) => this.#safely(() => this.#take(track)))
    try {
      if (far === undefined) {
        const audio = new library.Audio('0', 'SendRecv')
        audio.addAudioCodec(0, 'PCMU')
        this.#take(connection.addTrack(audio))
        connection.setLocalDescription('offer')
      } else {
        this.#setRemote(far, 'offer')
        connection.setLocalDescription('answer')
      }
      this.own = ownSideOf(connection)
      this.#standIn?.greet(this.own)
    } catch (error) {
      this.#standIn?.close()
      connection.close()
      throw error
    }
  }

  get hasPath(): boolean {
    return this.#hasPath
  }

  accept(far: FarSide): void {
    this.#setRemote(far, 'answer')
    this.#standIn?.greet(this.own)
  }

  receive(packet: Buffer): void {
    if (!this.#isClosed) this.#standIn?.receive(packet)
  }

  send(packet: Buffer): void {
    if (!this.#isOpen || this.#isClosed) return
    try {
      this.#track?.sendMessageBinary(packet)
    } catch {
      // The path has closed meanwhile; its end is reported separately.
    }
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#track?.close()
    this.#connection.close()
    this.#standIn?.close()
  }

  #setRemote(far: FarSide, type: 'offer' | 'answer'): void {
    this.#expected = far.fingerprint.value
    const ice = far.ice ?? { ...this.#standInFor().ice, isLite: true }
    this.#connection.setRemoteDescription(toDescription(far, ice), type)
  }

  #standInFor(): IceStandIn {
    this.#standIn ??= new IceStandIn({
      own: this.#at,
      onBound: (candidate) => this.#safely(() => this.#connection.addRemoteCandidate(candidate, '0')),
      onPacket: (packet) => this.#safely(() => this.#events.onReply(packet)),
    })
    return this.#standIn
  }

  #take(track: Track): void {
    this.#track = track
    track.onOpen(() =>
      this.#safely(() => {
        this.#isOpen = true
        this.#onReady()
      }),
    )
    track.onMessage((packet) => this.#safely(() => this.#events.onPacket(packet)))
  }

  #onState(state: string): void {
    if (state === 'connected') {
      this.#isHandshakeOver = true
      this.#onReady()
    }
    // Its reports on ICE come through another queue, and may have happened earlier.
    if (state === 'failed' || state === 'disconnected' || state === 'closed')
      setImmediate(() => this.#safely(() => this.#lose(this.#lossOf(state))))
  }

  /**
   * Reports the connection once the track is open too. The library opens it after the handshake and drops packets
   * before that.
   */
  #onReady(): void {
    if (!this.#isHandshakeOver || !this.#isOpen || this.#wasConnected) return
    this.#wasConnected = true
    const pair = this.#connection.getSelectedCandidatePair()
    this.#events.onConnected({ address: pair?.remote.address ?? '', port: pair?.remote.port ?? 0 })
  }

  #lossOf(state: string): PathLoss {
    // The library reports a lost path as failed, and one that the far end closed as disconnected.
    if (this.#isHandshakeOver) return state === 'failed' ? 'consent-lost' : 'closed'
    const seen = this.#connection.remoteFingerprint().value
    if (seen !== '' && seen !== this.#expected) return 'wrong-certificate'
    return this.#hasPath || seen !== '' ? 'no-handshake' : 'no-path'
  }

  #lose(loss: PathLoss): void {
    if (this.#isClosed) return
    this.close()
    this.#events.onLost(loss)
  }

  /** Catches every exception: one that reaches the library ends the process, and with it all paths. */
  #safely(react: () => void): void {
    if (this.#isClosed) return
    try {
      react()
    } catch {
      this.#lose('process-lost')
    }
  }
}

/**
 * Returns the credentials and certificate, which are for this connection alone: 24 and 132 random bits, and a P-256
 * key.
 */
function ownSideOf(connection: PeerConnection): OwnSide {
  const sdp = connection.localDescription()?.sdp ?? ''
  const [, ufrag] = /^a=ice-ufrag:(\S+)/m.exec(sdp) ?? []
  const [, pwd] = /^a=ice-pwd:(\S+)/m.exec(sdp) ?? []
  const [, algorithm, value] = /^a=fingerprint:(\S+) (\S+)/m.exec(sdp) ?? []
  if (ufrag === undefined || pwd === undefined || algorithm === undefined || value === undefined)
    throw new Error('the library does not describe the connection')
  return { ufrag, pwd, fingerprint: { algorithm, value } }
}

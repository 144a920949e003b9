// The messages between the main thread and the process of browsers, and their types for the two sides of a path.

/** The path in the far end's SDP: DTLS (RFC 8842) and, for most far ends, ICE (RFC 8839). */
export interface FarSide {
  readonly fingerprint: Fingerprint
  /** Its role in the handshake; `actpass` allows either. */
  readonly setup: 'active' | 'passive' | 'actpass'
  /** Undefined if the handshake is made between the ports of the media lines: RFC 5763 §6.7.1. */
  readonly ice: FarIce | undefined
  /** Whether it makes a new handshake when our certificate changes with an ICE restart. */
  readonly renewsHandshake?: boolean
}

export interface FarIce {
  readonly ufrag: string
  readonly pwd: string
  /** The places to try, without those that may not be sent to. A far end that sends checks itself needs none. */
  readonly candidates: readonly { readonly address: string; readonly port: number }[]
}

export interface Fingerprint {
  readonly algorithm: string
  readonly value: string
}

/** Our side of the path in our SDP. */
export interface OwnSide {
  readonly ufrag: string
  readonly pwd: string
  readonly fingerprint: Fingerprint
}

/** The entrance of media workers to the process: a loopback port and the token that opens it. */
export interface Gate {
  readonly port: number
  readonly token: string
}

/**
 * Added to the number of a path for its packets between the two ports, without ICE. Their sockets are in the media
 * worker.
 */
export const betweenPorts = 2 ** 31

/** The reason why a path could not be opened, or has ended. */
export type PathLoss =
  /** No ICE check succeeded in time. */
  | 'no-path'
  /** The certificate of the handshake is not the one in the SDP. */
  | 'wrong-certificate'
  /** ICE has a path, but the handshake over it was not completed. */
  | 'no-handshake'
  /** The far end closed the connection: its page was closed or left without hanging up. */
  | 'closed'
  /** The far end no longer responds to the checks of RFC 7675: its browser or its network is gone. */
  | 'consent-lost'
  /** The process that carried it ended. */
  | 'process-lost'

export type ToBrowsers =
  | {
      readonly kind: 'start'
      readonly bind: string
      readonly port: number
      readonly token: string
      readonly limits: PathLimits
    }
  /** `far` is the far end's side if it made the offer. */
  | { readonly kind: 'open'; readonly peer: number; readonly far: FarSide | undefined }
  | { readonly kind: 'answer'; readonly peer: number; readonly far: FarSide }
  | { readonly kind: 'close'; readonly peer: number }

export interface PathLimits {
  /** The time from when both sides are known to the end of the handshake. */
  readonly connectMs: number
  readonly peers: number
}

export type FromBrowsers =
  /** `port` is the UDP port of all paths, also if any port was requested. */
  | { readonly kind: 'ready'; readonly port: number; readonly gatePort: number }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'opened'; readonly peer: number; readonly own: OwnSide }
  | { readonly kind: 'refused'; readonly peer: number; readonly reason: string }
  | { readonly kind: 'connected'; readonly peer: number; readonly address: string; readonly port: number }
  | { readonly kind: 'lost'; readonly peer: number; readonly loss: PathLoss }

// What the main thread and the process of browsers say to each other, and the names that both have for the two sides of a path.

/** What the far end's SDP says of its path: DTLS (RFC 8842) and, of most far ends, ICE (RFC 8839). */
export interface FarSide {
  readonly fingerprint: Fingerprint
  /** What it is in the handshake; `actpass`: either. */
  readonly setup: 'active' | 'passive' | 'actpass'
  /** Undefined where the handshake is made between the ports of the media lines: RFC 5763 §6.7.1. */
  readonly ice: FarIce | undefined
}

export interface FarIce {
  readonly ufrag: string
  readonly pwd: string
  /** Places to try, without those that may not be sent to; a far end that begins by itself needs none. */
  readonly candidates: readonly { readonly address: string; readonly port: number }[]
}

export interface Fingerprint {
  readonly algorithm: string
  readonly value: string
}

/** What our SDP says of it. */
export interface OwnSide {
  readonly ufrag: string
  readonly pwd: string
  readonly fingerprint: Fingerprint
}

/** Where a media worker reaches the process: a port of loopback, and what opens it. */
export interface Gate {
  readonly port: number
  readonly token: string
}

/**
 * Added to the number of a path for its packets as they are between the two ports, where there is no ICE: their sockets are
 * those of the media worker.
 */
export const betweenPorts = 2 ** 31

/** Why a path was never there, or is no more. */
export type PathLoss =
  /** No check of ICE was answered, or none came, until its time was over. */
  | 'no-path'
  /** The certificate of the handshake is not the one that the SDP names. */
  | 'wrong-certificate'
  /** ICE has a path, and the handshake over it did not come to its end. */
  | 'no-handshake'
  /** The far end has closed what the handshake had opened: its page was closed or left without hanging up. */
  | 'closed'
  /** The far end no longer answers the checks of RFC 7675: its browser or its network is gone. */
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
  /** `far`: it has made the offer. */
  | { readonly kind: 'open'; readonly peer: number; readonly far: FarSide | undefined }
  | { readonly kind: 'answer'; readonly peer: number; readonly far: FarSide }
  | { readonly kind: 'close'; readonly peer: number }

export interface PathLimits {
  /** From both sides known to the end of the handshake. */
  readonly connectMs: number
  readonly peers: number
}

export type FromBrowsers =
  /** `port`: the UDP port of all paths, where any was asked for. */
  | { readonly kind: 'ready'; readonly port: number; readonly gatePort: number }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'opened'; readonly peer: number; readonly own: OwnSide }
  | { readonly kind: 'refused'; readonly peer: number; readonly reason: string }
  | { readonly kind: 'connected'; readonly peer: number; readonly address: string; readonly port: number }
  | { readonly kind: 'lost'; readonly peer: number; readonly loss: PathLoss }

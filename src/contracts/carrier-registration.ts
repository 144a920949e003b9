// The registration with a carrier: its state, and the store that decides which node registers.

export interface CarrierRegistration {
  readonly voip_carrier_sid: string
  /** The Call-ID of every REGISTER to the carrier: RFC 3261 §10.2. */
  readonly callId: string
  /** The CSeq that was used last. */
  readonly cseq: number
  /** The registered Contact, or null if there is none. */
  readonly contact: string | null
  /** Epoch ms. */
  readonly expiresAt: number
  /** The gateway of the registration, or null for the realm. */
  readonly gateway: string | null
  /** The addresses of the registrar, from which calls come. */
  readonly addresses: readonly string[]
  /** The values of Service-Route (RFC 3608). */
  readonly routes: readonly string[]
}

/**
 * The kinds of failure of a registration. `no_registrar`: none is set. `unreachable`: it was not found, or no connection was made.
 * `silent`: no response, or 408 or 480 in its place. `unavailable`: it responded that it cannot serve at the moment. `refused`: any other response.
 */
export const registrationCauses = ['no_registrar', 'unreachable', 'silent', 'unavailable', 'refused'] as const
export type RegistrationCause = (typeof registrationCauses)[number]

/** The `register_status` of a carrier. */
export interface RegisterStatus {
  readonly status: 'ok' | 'fail'
  readonly reason: string
  /** Set after a failure. */
  readonly cause?: RegistrationCause
  readonly cseq: number
  readonly callId: string
  /** Epoch ms. */
  readonly timestamp: number
  /** The seconds that the registrar granted; 0 after a failure. */
  readonly expires: number
}

export interface CarrierRegistrationStore {
  /** Returns the registrations of all nodes. */
  load(): Promise<readonly CarrierRegistration[]>
  /** Takes the carriers that no node holds. Returns all carriers that this node holds. */
  hold(sids: readonly string[]): Promise<ReadonlySet<string>>
  /** Stores what this node holds. `undefined` leaves the carrier's status unchanged. */
  save(registration: CarrierRegistration, status: RegisterStatus | 'none' | undefined): Promise<void>
  /** Lets another node take them. */
  release(sids: readonly string[]): Promise<void>
}

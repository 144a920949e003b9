// How the platform is registered with a carrier: what is remembered of it, and the store that says which node registers.

export interface CarrierRegistration {
  readonly voip_carrier_sid: string
  /** Each REGISTER to the carrier has it: RFC 3261 §10.2. */
  readonly callId: string
  /** The last one that was used. */
  readonly cseq: number
  /** As it was registered last; null before that, and once it is taken back. */
  readonly contact: string | null
  /** Epoch ms. */
  readonly expiresAt: number
  /** The gateway that it is registered over; null where that is the realm. */
  readonly gateway: string | null
  /** Where the registrar is, and calls come from. */
  readonly addresses: readonly string[]
  /** The values of Service-Route (RFC 3608). */
  readonly routes: readonly string[]
}

/** As `register_status` of a carrier has it. */
export interface RegisterStatus {
  readonly status: 'ok' | 'fail'
  readonly reason: string
  readonly cseq: number
  readonly callId: string
  /** Epoch ms. */
  readonly timestamp: number
  /** The seconds that the registrar granted; 0 after a failure. */
  readonly expires: number
}

export interface CarrierRegistrationStore {
  /** Of every node. */
  load(): Promise<readonly CarrierRegistration[]>
  /** Takes those carriers that no node has; returns which of all are this node's. */
  hold(sids: readonly string[]): Promise<ReadonlySet<string>>
  /** Only what this node has. `undefined` leaves the status of the carrier as it is. */
  save(registration: CarrierRegistration, status: RegisterStatus | 'none' | undefined): Promise<void>
  /** Another node may take them. */
  release(sids: readonly string[]): Promise<void>
}

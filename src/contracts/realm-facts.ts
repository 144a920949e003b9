// The questions of the API about a host name that an account wants as its SIP realm.

export interface RealmFacts {
  /** Names of the platform itself. */
  readonly reserved: ReadonlySet<string>
  /** The zone in which the platform keeps the records of realms, if it does. */
  readonly zone: string | undefined
  /** Reports whether it resolves to this platform. Throws dns_unavailable if no name server responds. */
  leadsToUs(host: string): Promise<boolean>
  /** Returns the TXT records of a name, or none if no name server responds. */
  texts(name: string): Promise<readonly string[]>
  /** Reports whether a carrier calls the name with calls of another account. */
  isCalledByOthers(host: string, account_sid: string): Promise<boolean>
}

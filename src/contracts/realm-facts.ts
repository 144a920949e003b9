// What the API asks about a host name that an account wants as its SIP realm.

export interface RealmFacts {
  /** Names of the platform itself. */
  readonly reserved: ReadonlySet<string>
  /** The zone in which the platform keeps the records of realms, if it does. */
  readonly zone: string | undefined
  /** Whether it has an address of this platform now. Throws dns_unavailable when no name server responds. */
  leadsToUs(host: string): Promise<boolean>
  /** The TXT records of a name; none when no name server responds. */
  texts(name: string): Promise<readonly string[]>
  /** Whether a carrier calls it with calls of another account. */
  isCalledByOthers(host: string, account_sid: string): Promise<boolean>
}

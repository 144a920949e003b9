// The index that each SRTCP packet carries: RFC 3711 §3.4.

/** Set in the word of the index if the packet is encrypted. */
export const encryptedFlag = 0x8000_0000
/** The octets of the word of the index. */
export const indexBytes = 4
/** The octets of the first header, which are never encrypted. */
export const rtcpClearBytes = 8

// Text as a JSON string, without the serializer where nothing needs escaping: what lists are mostly made of.

// What JSON.stringify leaves as it is: all but RFC 8259 §7 has escaped, and but surrogates, which may stand alone.
const plain = /^[\u0020\u0021\u0023-\u005b\u005d-\ud7ff\ue000-\uffff]*$/

/** As JSON.stringify writes it. */
export function quote(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text)
}

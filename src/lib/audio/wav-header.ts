// The head of a WAV file of one channel with 16-bit samples.

export const wavHeaderBytes = 44

//  0      4      8      12     16   20   22   24      28       32   34   36     40     44
//  +------+------+------+------+----+----+----+-------+--------+----+----+------+------+----
//  | RIFF | size | WAVE | fmt  | 16 | 1  | 1  | rate  | rate*2 | 2  | 16 | data | size | samples
//  +------+------+------+------+----+----+----+-------+--------+----+----+------+------+----
export function wavHeader(sampleRate: number, dataBytes: number): Buffer {
  const header = Buffer.alloc(wavHeaderBytes)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(36 + dataBytes, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(sampleRate, 24)
  header.writeUInt32LE(sampleRate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(dataBytes, 40)
  return header
}

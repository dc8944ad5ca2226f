import encodeQR from 'qr'

/** Readers need so many light modules around it (ISO/IEC 18004). */
const quiet = 4

/** A text for the camera of another device, dark on light whatever the scheme: many readers know it no other way. @param label what it is, for who does not see it */
export function QrCode({ of, label }: { of: string; label: string }) {
  const rows = encodeQR(of, 'raw', { border: quiet })
  const dark = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return (
    <svg class="qr-code" role="img" aria-label={label} viewBox={`0 0 ${rows.length} ${rows.length}`} shape-rendering="crispEdges">
      <path fill="#fff" d={`M0 0h${rows.length}v${rows.length}h-${rows.length}z`} />
      <path fill="#000" d={dark} />
    </svg>
  )
}

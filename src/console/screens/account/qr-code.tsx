import encodeQR from 'qr'

/** Light modules around the code (ISO/IEC 18004). */
const quietZone = 4

/**
 * A QR code, dark on light in every colour scheme, because many readers need that.
 * @param label names it for screen readers
 */
export function QrCode({ text, label }: { text: string; label: string }) {
  const rows = encodeQR(text, 'raw', { border: quietZone })
  const dark = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return (
    <svg class="qr-code" role="img" aria-label={label} viewBox={`0 0 ${rows.length} ${rows.length}`} shape-rendering="crispEdges">
      <path fill="#fff" d={`M0 0h${rows.length}v${rows.length}h-${rows.length}z`} />
      <path fill="#000" d={dark} />
    </svg>
  )
}

/** A list of texts that differ. */
export const BulletList = ({ of }: { of: readonly string[] }) => (
  <ul class="bullets">
    {of.map((text) => (
      <li key={text}>{text}</li>
    ))}
  </ul>
)

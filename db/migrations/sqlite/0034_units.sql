CREATE INDEX `orders_to_send` ON `orders` (`shop_id`,`number`) WHERE status = 'CONFIRMED';--> statement-breakpoint
CREATE INDEX `orders_partly_sent` ON `orders` (`shop_id`,`number`) WHERE fulfilment_status = 'PARTIALLY_FULFILLED';--> statement-breakpoint
-- by hand: confirmed orders of which refunds have left nothing to send become FULFILLED, as such an order does from now on
UPDATE orders AS o SET status = 'FULFILLED', fulfilment_status = 'FULFILLED',
  fulfilled_at = (SELECT max(r.updated_at) FROM refunds r WHERE r.order_id = o.id AND r.purpose <> 'LATE_CAPTURE' AND r.status IN ('SUCCEEDED', 'CLAIMABLE', 'MANUAL'))
WHERE o.status = 'CONFIRMED'
  AND o.id IN (SELECT r.order_id FROM refunds r WHERE r.purpose <> 'LATE_CAPTURE' AND r.status IN ('SUCCEEDED', 'CLAIMABLE', 'MANUAL'))
  AND NOT EXISTS (SELECT 1 FROM refunds r WHERE r.order_id = o.id AND r.purpose = 'CANCEL' AND r.status = 'PENDING')
  AND (
    EXISTS (SELECT 1 FROM refunds r WHERE r.order_id = o.id AND r.purpose <> 'LATE_CAPTURE' AND r.status IN ('SUCCEEDED', 'CLAIMABLE', 'MANUAL')
      GROUP BY r.order_id HAVING sum(r.amount + r.gift_card_amount) >= o.captured_total + o.gift_card_total
        AND o.captured_total + o.gift_card_total > 0 AND min(CASE WHEN r.lines = '[]' THEN 0 ELSE 1 END) = 0)
    OR NOT EXISTS (SELECT 1 FROM order_lines l WHERE l.order_id = o.id AND l.quantity >
      coalesce((SELECT sum(cast(line.value ->> 'quantity' AS integer)) FROM fulfilments f, json_each(f.lines) AS line
        WHERE f.order_id = o.id AND line.value ->> 'lineId' = l.id), 0)
      + coalesce((SELECT sum(cast(line.value ->> 'quantity' AS integer)) FROM refunds r, json_each(r.lines) AS line
        WHERE r.order_id = o.id AND r.purpose <> 'LATE_CAPTURE' AND r.status IN ('SUCCEEDED', 'CLAIMABLE', 'MANUAL') AND line.value ->> 'lineId' = l.id), 0))
  );
--> statement-breakpoint
INSERT INTO order_events (id, order_id, position, type, at, actor, detail)
SELECT 'evt_' || substr(o.id, 7), o.id, (SELECT max(e.position) FROM order_events e WHERE e.order_id = o.id) + 1, 'FULFILLED', o.fulfilled_at, 'system', '{}'
FROM orders o
WHERE o.status = 'FULFILLED' AND NOT EXISTS (SELECT 1 FROM order_events e WHERE e.order_id = o.id AND e.type = 'FULFILLED');

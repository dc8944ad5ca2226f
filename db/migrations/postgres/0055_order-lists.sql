DROP INDEX "orders_partly_sent";--> statement-breakpoint
DROP INDEX "orders_state_total";--> statement-breakpoint
DROP INDEX "orders_state_number";--> statement-breakpoint
DROP INDEX "orders_to_send";--> statement-breakpoint
CREATE INDEX "orders_fulfilment" ON "orders" USING btree ("shop_id","fulfilment_status","number","created_at");--> statement-breakpoint
CREATE INDEX "orders_state_total" ON "orders" USING btree ("shop_id","status","total","number","payment_status","fulfilment_status","created_at") WHERE status in ('CONFIRMED', 'FULFILLED', 'COMPLETED', 'EXPIRED', 'CANCELLED');--> statement-breakpoint
CREATE INDEX "orders_state_number" ON "orders" USING btree ("shop_id","status","payment_status","number","fulfilment_status","created_at");--> statement-breakpoint
CREATE INDEX "orders_to_send" ON "orders" USING btree ("shop_id","number","fulfilment_status","created_at") WHERE status = 'CONFIRMED';
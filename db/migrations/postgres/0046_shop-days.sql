CREATE INDEX "order_lines_product" ON "order_lines" USING btree ("product_id");--> statement-breakpoint
CREATE INDEX "orders_shop_confirmed" ON "orders" USING btree ("shop_id","confirmed_at") WHERE confirmed_at is not null;--> statement-breakpoint
CREATE INDEX "unified_transactions_shop" ON "unified_transactions" USING btree ("shop_id","at");
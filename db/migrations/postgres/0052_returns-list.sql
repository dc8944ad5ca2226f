DROP INDEX "returns_open";--> statement-breakpoint
CREATE INDEX "returns_shop" ON "returns" USING btree ("shop_id","id");--> statement-breakpoint
CREATE INDEX "returns_status" ON "returns" USING btree ("shop_id","status","id");
CREATE INDEX "ingestions_kept" ON "ingestions" USING btree ("received_at") WHERE payload <> '';
--> statement-breakpoint
ALTER TABLE attestations SET (fillfactor = 80);